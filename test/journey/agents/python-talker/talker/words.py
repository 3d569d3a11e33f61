def greeting(name: str) -> str:
    return f"first {name}"
