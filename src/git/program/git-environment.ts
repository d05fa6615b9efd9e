import { devNull } from 'node:os'

/** Settings of git (`git help config`) for one run of it. */
export type GitConfig = Readonly<Record<string, string>>

/** Further variables for one run. Only names that begin with `GIT_` affect git. */
export type GitVariables = Readonly<Record<string, string>>

/**
 * The complete environment of a git program that runs for a client. From our own environment it has only the search path for programs and
 * the trusted certificate authorities. It ignores all users' configuration, and has settings that no repository has (git(1),
 * GIT_CONFIG_COUNT).
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

/** These variables, as far as our own environment has them. */
function ours(...names: readonly string[]): NodeJS.ProcessEnv {
  return Object.fromEntries(
    names.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
  )
}

const EVERYWHERE: GitConfig = {
  // A store may belong to another user than the server's.
  'safe.directory': '*',
  'core.hooksPath': devNull,
  // Several clients share the processors with all other work.
  'pack.threads': '1',
}
