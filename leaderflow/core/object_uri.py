"""URIs of object stores: how they are opened, how they are shown, and what their providers' errors mean."""

from __future__ import annotations

import os
import re
from urllib.parse import quote, unquote

from leaderflow.core.text import shortened

_PATIENCE = "retry_limit_seconds=10"
_DEFAULTS = {"s3": "allow_delayed_open=true", "gs": _PATIENCE, "gcs": _PATIENCE}
"""Small objects in one request instead of three; no minutes of silence where nothing answers."""

_DENIED = (
    "ACCESS_DENIED",
    "INVALID_ACCESS_KEY_ID",
    "SIGNATURE_DOES_NOT_MATCH",
    "EXPIRED_TOKEN",
    "HTTP status 401",
    "HTTP status 403",
    "PERMISSION_DENIED",
    "UNAUTHENTICATED",
    "AuthenticationFailed",
    "AuthenticationException",
)
_REASONS = {
    "there is no such bucket": ("NO_SUCH_BUCKET", "NoSuchBucket", "ContainerNotFound"),
    "access is denied; give credentials in the environment (S3: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY)": _DENIED,
    "nothing answers there; see to the endpoint and the network": ("NETWORK_CONNECTION", "UNAVAILABLE", "ould not resolve"),
    "its scheme is unknown; a store is a path, or begins with s3://, gs://, abfs:// or file://": ("Unrecognized filesystem type",),
}
"""What the provider's words mean to the user; an error without them is quoted."""

_LEGAL = "%:/?#[]@!$&'()*+,;=-._~"

_SECRETS = ("AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_ACCESS_KEY_ID")


def shown(uri: str) -> str:
    """Return a URI without credentials and options, as it may be shown."""
    scheme, _, rest = uri.partition("://")
    login = _login(uri)
    rest = "***" + rest.removeprefix(login) if ":" in login else rest
    return f"{scheme}://{rest.partition('?')[0].rstrip('/')}"


def reason(text: str, uri: str) -> str:
    """Return in a few words what an error text of the provider means for the store at `uri`; never with credentials."""
    for meaning, words in _REASONS.items():
        if any(word in text for word in words):
            return meaning
    users = [part for address in (opened(uri), uri) for part in _login(address).partition(":")]
    for secret in [opened(uri), uri, *map(unquote, users), *users, *(os.environ.get(name, "") for name in _SECRETS)]:
        text = text.replace(secret, "***") if len(secret) > 1 else text
    return shortened(" ".join(text.split()), 300)


def _login(uri: str) -> str:
    """Return what stands before the @ of a URI: key and secret, or a container's name."""
    return uri.partition("://")[2].rpartition("@")[0]


def opened(uri: str) -> str:
    """Return a URI as it is opened: with the options that a store wants and the user did not set.

    What a URI may not hold as it stands (a blank, a letter outside ASCII, a percent sign that begins no code) is encoded.
    """
    uri = quote(re.sub(r"%(?![0-9A-Fa-f]{2})", "%25", uri), safe=_LEGAL)
    default = _DEFAULTS.get(uri.partition("://")[0].lower())
    if default is None or default.partition("=")[0] in uri:
        return uri
    return f"{uri}{'&' if '?' in uri else '?'}{default}"
