class CudaPlatformBase:
    def supports_fp8(self) -> bool:
        return True
