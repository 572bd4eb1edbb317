def is_aiter_found_and_supported() -> bool:
    return IS_AITER_FOUND  # noqa: F821


class rocm_aiter_ops:
    @classmethod
    def is_enabled(cls) -> bool:
        return cls._AITER_ENABLED
