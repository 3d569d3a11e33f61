import asyncio

import pytest

from landfall_worker.embeddings import embedder_for_model, embedder_of
from landfall_worker.loading_error import LoadingError


class Documents:
    def embed_documents(self, texts):
        return [[len(each)] for each in texts]

    def embed_query(self, text):
        return [-len(text)]


class Awaited(Documents):
    async def aembed_documents(self, texts):
        return [[len(each), 1] for each in texts]

    async def aembed_query(self, text):
        return [-len(text), 1]


async def function(texts):
    return [[len(each)] for each in texts]


def plain_function(texts):
    return [[len(each)] for each in texts]


@pytest.mark.parametrize(
    ("exported", "documents", "query"),
    [
        (Documents(), [[1], [2]], [[-1]]),
        (Awaited(), [[1, 1], [2, 1]], [[-1, 1]]),
        (function, [[1], [2]], [[1]]),
        (plain_function, [[1], [2]], [[1]]),
    ],
)
def test_embeds_by_what_the_agent_exports(exported, documents, query):
    embed = embedder_of(exported)
    assert asyncio.run(embed(["a", "bb"], False)) == documents
    assert asyncio.run(embed(["a"], True)) == query


def test_says_what_embeds_nothing():
    with pytest.raises(LoadingError) as raised:
        embedder_of(7)
    assert raised.value.landfall_code == "embed-no-embeddings"


def test_says_where_no_package_has_a_model():
    with pytest.raises(LoadingError) as raised:
        embedder_for_model("openai:small")
    assert raised.value.landfall_code == "embed-package-missing"
