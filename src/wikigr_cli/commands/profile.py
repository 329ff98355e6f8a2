"""``wikigr profile``: list and show profiles."""

from __future__ import annotations

from wikigr.errors import UsageError
from wikigr_cli.command import command
from wikigr_cli.command_table import group
from wikigr_cli.environment import Environment
from wikigr_cli.options import Profile
from wikigr_cli.render.output import Document


def _print_profiles(environment: Environment, document: Document) -> None:
    for profile in document["profiles"]:
        environment.print(f"{profile['name']:<14} ", style="bold", end="")
        environment.print(profile["description"], hang=15)


def _print_profile(environment: Environment, document: Document) -> None:
    """Print a profile as YAML that can be saved to a file; a profile file does not hold its own name."""
    import yaml

    values = {key: value for key, value in document["profile"].items() if key != "name"}
    # A width of 68: YAML breaks a line after the word that reaches it.
    environment.write(yaml.safe_dump(values, sort_keys=False, allow_unicode=True, width=68))


@command(_print_profiles)
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


@command(_print_profile, name=Profile(metavar="PROFILE", help="The name of a profile, or its YAML file."))
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
