class RocmPlatform:
    def supports_fp8(self) -> bool:
        return True
