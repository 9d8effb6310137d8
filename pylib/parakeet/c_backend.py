"""The original's room for the code of processors, of which programs used the settings:
`c_backend.config`, here the one `config`."""

from parakeet.config import config

__all__ = ["config"]
