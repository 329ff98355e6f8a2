"""``wikigr profile``: list and show profiles."""

from __future__ import annotations

from wikigr.errors import UsageError
from wikigr_cli.command import command
from wikigr_cli.command_table import group
from wikigr_cli.environment import Environment
from wikigr_cli.options import Profile
from wikigr_cli.render.output import Document
from wikigr_cli.render.settings import print_profile, print_profiles


@command(print_profiles)
def list_profiles(environment: Environment) -> Document:
    """List the profiles that ship with wikigr and your own.

    Your own are in the folder `profiles` beside the user settings.

    Examples:
      wikigr profile list
      wikigr profile list --json
    """
    from wikigr.pipeline.profile import profile_names
    from wikigr.pipeline.profile_files import load_profile

    profiles = []
    for name in profile_names():
        try:
            profiles.append({"name": name, "description": load_profile(name).description})
        except UsageError as error:
            environment.print_error(f"wikigr: {error.message}")
    return {"profiles": profiles}


@command(print_profile, name=Profile(metavar="PROFILE", help="The name of a profile, or its YAML file."))
def show(name: str) -> Document:
    """Print every key of a profile, also the inherited ones.

    A mistake in the profile is named with its file, line and key, and the exit code is 2.

    Examples:
      wikigr profile show enhanced
      wikigr profile show fast --json
    """
    from wikigr.pipeline.profile_files import load_profile
    from wikigr.pipeline.profile_schema import profile_values

    return {"profile": profile_values(load_profile(name))}


profile = group(
    """List and show profiles.

    Examples:
      wikigr profile list
    """,
    {"list": list_profiles, "show": show},
)
