"""A model that needs no key and no network, and says the same every time."""

import re
from collections.abc import Callable, Iterator
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models.chat_models import SimpleChatModel
from langchain_core.messages import AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGenerationChunk


class ScriptedModel(SimpleChatModel):
    """Answers a question by rule, word by word, as a model would stream it."""

    answer: Callable[[str], str]

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def _call(self, messages: list[BaseMessage], *args: Any, **options: Any) -> str:
        return self.answer(text_of(messages[-1]))

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **options: Any,
    ) -> Iterator[ChatGenerationChunk]:
        for word in re.split(r"(?<= )", self._call(messages)):
            chunk = ChatGenerationChunk(message=AIMessageChunk(content=word))
            if run_manager:
                run_manager.on_llm_new_token(word, chunk=chunk)
            yield chunk


def text_of(message: BaseMessage) -> str:
    """The text of a message, whose content may have several parts."""
    return str(message.text)
