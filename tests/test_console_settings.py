"""The console's configuration: precedence, sources, and mistakes named with file, line and the nearest name."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from jobconsole import cli_console
from jobconsole.cli import cli
from jobconsole.settings import SETTINGS, SettingsError, load

FULL = """\
default_profile = "test"
theme = "light"
zone = "Europe/London"

[profile.test]
url = "https://test.example"

[profile.prod]
url = "https://jobs.example"
tenant = "acme"
production = true
read_only = true
theme = "high-contrast"

[keymap]
"help.show" = "H"

[themes.paper]
base = "light"
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "config.toml"
    path.write_text(FULL, encoding="utf-8")
    return path


def test_without_a_file_everything_has_a_default(tmp_path: Path) -> None:
    settings = load(file=tmp_path / "none.toml", environ={})
    assert (settings.profile, settings.read_only, settings.production, settings.cover_minutes) == (
        "default",
        False,
        False,
        5,
    )
    assert {sourced.source for sourced in settings.sources.values()} == {"default", "this machine"}


def test_option_beats_environment_beats_profile_beats_file_beats_default(file: Path) -> None:
    environ = {"JOBCONSOLE_URL": "https://environment.example", "JOBCONSOLE_PROFILE": "prod"}
    settings = load({"url": "https://typed.example"}, file=file, environ=environ)
    assert settings.sources["url"].source == "the command line"
    assert settings.sources["profile"].source == "environment JOBCONSOLE_PROFILE"
    assert load(file=file, environ=environ).url == "https://environment.example"
    assert load({"profile": "prod"}, file=file, environ={}).url == "https://jobs.example"
    by_file = load(file=file, environ={})
    assert (by_file.profile, by_file.theme, by_file.sources["theme"].source) == ("test", "light", f"file {file}")
    assert load({"profile": "prod"}, file=file, environ={}).theme == "high-contrast"
    assert by_file.sources["cover_minutes"].source == "default"


def test_a_profile_can_be_production_and_read_only(file: Path) -> None:
    settings = load({"profile": "prod"}, file=file, environ={})
    assert (settings.production, settings.read_only, settings.tenant) == (True, True, "acme")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('them = "dark"\n', ':1: no setting "them"; did you mean "theme"?'),
        (
            "\n[profile.prod]\nread_onyl = true\n",
            ':3: [profile.prod] no setting "read_onyl"; did you mean "read_only"?',
        ),
        ("[profile.prod]\ncover_minutes = 3\n", ':2: [profile.prod] no setting "cover_minutes"'),
        ("\ncover_minutes = 0\n", ":2: cover_minutes (file "),
        ("cover_minutes = true\n", "must be a whole number from 1 to 60"),
        ('read_only = "maybe"\n', "must be true or false"),
        ('zone = "Mars/Base"\n', '"Mars/Base" is no time zone'),
        ('zone = "../../etc/passwd"\n', "is no time zone"),
        ('\ntheme = "lihgt"\n', ":2: theme (file "),
        ('theme = "pink"\n', "must be one of dark, light, high-contrast, colour-blind"),
        ('theme = "lihgt"\n', 'did you mean "light"?'),
        ('[themes.mine]\nprimray = "#112233"\n', ':2: [themes.mine] no colour "primray"; did you mean "primary"?'),
        ('[themes.mine]\nprimary = "blue"\n', ":2: [themes.mine] primary must be a colour such as #5fa8d3"),
        ('[themes.mine]\nbase = "drak"\n', ":2: [themes.mine] base must be one of dark"),
        ('[themes.mine]\n\nforeground = "#12161b"\n', ":3: [themes.mine] foreground cannot be read"),
        ("[themes.dark]\n", "[themes.dark]: dark comes with the console"),
        ('themes = "x"\n', ":1: themes of your own are sections"),
        ("[themes.Mine]\n", "a theme is a section such as [themes.mine]"),
        ('url = ""\n', "must be text"),
        ('keymap = "x"\n', ":1: keymap is a section: [keymap]"),
        ('[keymap]\nhelp.show = "H"\n', ':2: keymap: write the id in quotes, e.g. "help.…" = "c"'),
        ('[keymap]\n"help.show" = 3\n', ":2: keymap: help.show: keys are text"),
        ('profile = "prod"\n', ':1: write default_profile = "…"'),
        ('default_profile = "prod"\n', "no [profile.prod]"),
        ("[profile.PROD]\n", "a profile is a section such as [profile.prod]"),
        ("theme = \n", "not in the form of TOML"),
        ('[profil.prod]\nurl = "x"\n', 'no setting "profil"; did you mean "profile"?'),
    ],
)
def test_each_mistake_is_named_with_its_place(tmp_path: Path, text: str, sentence: str) -> None:
    path = tmp_path / "config.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError) as caught:
        load(file=path, environ={})
    assert sentence in str(caught.value)
    assert str(path) in str(caught.value)


def test_a_theme_of_ones_own_can_be_chosen(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text('theme = "mine"\n[themes.mine]\nbase = "light"\nprimary = "#004400"\n', encoding="utf-8")
    settings = load(file=path, environ={})
    assert settings.theme == "mine"
    assert [(theme.name, theme.base, theme.colours) for theme in settings.themes] == [
        ("mine", "light", {"primary": "#004400"})
    ]


def test_all_mistakes_are_named_at_once(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text('them = "x"\ntheme = "pink"\nzone = "Mars"\n', encoding="utf-8")
    with pytest.raises(SettingsError) as caught:
        load(file=path, environ={})
    assert len(str(caught.value).splitlines()) == 3


def test_bytes_that_are_no_text_are_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_bytes(b"theme = '\xff'\n")
    with pytest.raises(SettingsError, match="cannot be read"):
        load(file=path, environ={})


@pytest.mark.parametrize("opener", ["[", "{a="])
def test_brackets_nested_without_end_are_a_sentence(tmp_path: Path, opener: str) -> None:
    path = tmp_path / "config.toml"
    path.write_text("theme = " + opener * 100_000, encoding="utf-8")
    with pytest.raises(SettingsError, match="nested too deep"):
        load(file=path, environ={})


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_what_is_no_regular_file_is_a_sentence_and_nobody_waits(tmp_path: Path, make: Callable[[Path], None]) -> None:
    path = tmp_path / "config.toml"
    make(path)
    with pytest.raises(SettingsError, match="is no regular file"):
        load(file=path, environ={})


def test_the_nearest_profile_is_named(file: Path) -> None:
    with pytest.raises(SettingsError, match='did you mean "prod"'):
        load({"profile": "prdo"}, file=file, environ={})


@pytest.fixture
def run(file: Path, monkeypatch: pytest.MonkeyPatch) -> CliRunner:
    monkeypatch.setattr(cli_console, "config_file", lambda: file)
    return CliRunner()


def test_config_show_says_where_each_value_came_from(run: CliRunner) -> None:
    done = run.invoke(cli, ["config", "show", "--profile", "prod", "--json"])
    assert done.exit_code == 0, done.output
    shown = json.loads(done.output)
    assert set(shown["settings"]) == {setting.name for setting in SETTINGS}
    assert shown["settings"]["url"] == {"value": "https://jobs.example", "source": "profile prod"}
    assert shown["keymap"] == {"help.show": "H"}
    assert shown["themes"] == {"paper": {"base": "light"}}
    plain = run.invoke(cli, ["config", "show"])
    assert "help.show = H  (line 16)" in plain.output
    assert "paper: light with nothing changed" in plain.output


def test_the_profile_may_stand_before_the_command(run: CliRunner) -> None:
    done = run.invoke(cli, ["--profile", "prod", "config", "show"])
    assert "https://jobs.example" in done.output


def test_profiles_lists_them_and_marks_the_used_one(run: CliRunner) -> None:
    done = run.invoke(cli, ["profiles"])
    assert done.exit_code == 0, done.output
    assert "▸ test" in done.output
    assert "PRODUCTION READ-ONLY" in done.output


def test_keys_prints_the_catalogue_with_ones_own(run: CliRunner) -> None:
    done = run.invoke(cli, ["keys"])
    assert done.exit_code == 0, done.output
    assert "H (yours)" in done.output


def test_keys_names_a_clash_and_fails(run: CliRunner, file: Path) -> None:
    file.write_text('[keymap]\n"live.pause" = "r"\n', encoding="utf-8")
    done = run.invoke(cli, ["keys"])
    assert done.exit_code == 1
    assert f"{file}:2: keymap: " in done.output
    assert "screen.refresh" in done.output
    assert "live.pause" in done.output


def test_a_faulty_file_is_a_sentence_and_status_2(run: CliRunner, file: Path) -> None:
    file.write_text('them = "\x1b]52;c;eA==\x07"\n', encoding="utf-8")
    done = run.invoke(cli, ["config", "show"])
    assert done.exit_code == 2
    assert "Traceback" not in done.output
    assert "\x1b" not in done.output
