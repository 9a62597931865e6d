"""What can go wrong, each with a stable code that the front end translates."""


class ThumbError(Exception):
    """Base of all failures of this service."""

    code = "E-0000"

    def as_payload(self) -> dict[str, str]:
        """The JSON body that a client sees."""
        return {"code": self.code, "message": str(self)}


class PictureTooLarge(ThumbError):
    """The picture has more pixels than we are willing to decode: a decompression bomb, most likely."""

    code = "E-4012"

    def __init__(self, width: int, height: int, limit: int) -> None:
        super().__init__(f"{width} × {height} pixels are more than {limit}")
        self.pixels = width * height


class UnknownFormat(ThumbError):
    """The first bytes of the upload belong to no picture format that we read."""

    code = "E-4150"


class UploadTimedOut(ThumbError):
    """The upload target did not answer in time; worth another attempt."""

    code = "E-5030"
