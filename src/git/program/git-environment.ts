import { devNull } from 'node:os'

/** Settings of git (`git help config`) for one run of it. */
export type GitConfig = Readonly<Record<string, string>>

/** What else one run is told. Only names that begin with `GIT_` are of use to git. */
export type GitVariables = Readonly<Record<string, string>>

/**
 * The whole environment of a git program that is run for a client: of ours only where programs are found and which certificate
 * authorities are trusted, nobody's own configuration, and settings that no repository keeps (git(1), GIT_CONFIG_COUNT).
 */
export function gitEnvironment(config: GitConfig = {}, variables: GitVariables = {}): NodeJS.ProcessEnv {
  const settings = Object.entries({ ...EVERYWHERE, ...config })
  const numbered = settings.flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${index}`, key],
    [`GIT_CONFIG_VALUE_${index}`, value],
  ])
  return {
    ...ours('PATH', 'GIT_SSL_CAINFO', 'GIT_SSL_CAPATH'),
    HOME: devNull,
    LC_ALL: 'C',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: devNull,
    GIT_ATTR_NOSYSTEM: '1',
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_TERMINAL_PROMPT: '0',
    GIT_CONFIG_COUNT: String(settings.length),
    ...Object.fromEntries(numbered),
    ...variables,
  }
}

/** Those of these variables that our own environment has. */
function ours(...names: readonly string[]): NodeJS.ProcessEnv {
  return Object.fromEntries(
    names.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
  )
}

const EVERYWHERE: GitConfig = {
  // A store may belong to another user than the one the server runs as.
  'safe.directory': '*',
  'core.hooksPath': devNull,
  // Several clients share the processors with everything else.
  'pack.threads': '1',
}
