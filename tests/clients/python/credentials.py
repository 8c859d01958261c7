"""Gives the callers of ../expect/callers.json their credentials, and writes the server.toml that accepts them.

    credentials.py RELAY SERVER_TOML EXPECT.json FOLDER

SERVER_TOML is that of examples/platform: here its issuers are in force and its API keys are real. FOLDER gets
server.toml, the public keys of the issuers, and for each caller a file with its credential, which only this user
may read. The private keys of the issuers never leave this process.
"""

import json
import re
import subprocess
import sys
import time
import tomllib
from pathlib import Path
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from jwt.algorithms import ECAlgorithm, RSAAlgorithm

LIFETIME_S = 3600


class Issuer:
    """An authorization server, as a table [[auth.jwt]] describes it. It signs by the first algorithm of the table."""

    def __init__(self, table: dict[str, Any]):
        self.name = table["issuer"]
        self.audience = table["audience"]
        self.jwks = table["jwks"]
        self.algorithm = table["algorithms"][0]
        match self.algorithm:
            case "ES256":
                self.key: Any = ec.generate_private_key(ec.SECP256R1())
                public = ECAlgorithm.to_jwk(self.key.public_key(), as_dict=True)
            case "RS256":
                self.key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
                public = RSAAlgorithm.to_jwk(self.key.public_key(), as_dict=True)
            case other:
                raise ValueError(f"no key is made for {other}")
        self.public = {**public, "kid": self.algorithm, "use": "sig", "alg": self.algorithm}

    def token(self, claims: dict[str, Any], signer: "Issuer") -> str:
        now = int(time.time())
        always = {"iss": self.name, "aud": self.audience, "iat": now, "exp": now + LIFETIME_S}
        return jwt.encode({**always, **claims}, signer.key, signer.algorithm, {"kid": signer.algorithm})


def api_key(relay: str, name: str, folder: Path) -> tuple[str, str]:
    """Makes an API key in the way of the README; returns it, and the hash by which a server knows it."""
    made = subprocess.run([relay, "keygen", "--api-key", name], cwd=folder, check=True, capture_output=True, text=True)
    (table,) = tomllib.loads(made.stdout)["auth"]["api-keys"]
    return (folder / f"{name}.api-key").read_text().strip(), table["sha256"]


def in_force(settings: str) -> str:
    """The settings, with the issuers that are comments in them."""
    begin = settings.index("# [[auth.jwt]]")
    return settings[:begin] + re.sub(r"^# ?", "", settings[begin:], flags=re.MULTILINE)


def write_secret(file: Path, secret: str) -> None:
    file.touch(mode=0o600, exist_ok=False)
    file.write_text(secret)


def main() -> None:
    relay, server_toml, expect_file, folder_name = sys.argv[1:]
    folder = Path(folder_name)
    settings = in_force(Path(server_toml).read_text())
    auth = tomllib.loads(settings)["auth"]
    hashes = {table["id"]: table["sha256"] for table in auth["api-keys"]}
    issuers = {table["issuer"]: Issuer(table) for table in auth["jwt"]}
    expect = json.loads(Path(expect_file).read_text())
    for name, caller in [*expect["callers"].items(), *expect["refused"].items()]:
        match caller["by"]:
            case {"api-key": key}:
                credential, sha256 = api_key(relay, key, folder)
                settings = settings.replace(hashes[key], sha256)
            case {"issuer": issuer, "claims": claims, **rest}:
                signer = rest.get("signed-by", issuer)
                credential = issuers[issuer].token(claims, issuers[signer])
        write_secret(folder / f"{name}.credential", credential)
    (folder / "server.toml").write_text(settings)
    for issuer in issuers.values():
        (folder / issuer.jwks).write_text(json.dumps({"keys": [issuer.public]}))


if __name__ == "__main__":
    main()
