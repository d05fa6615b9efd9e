import { parseArgs } from 'node:util'
import { nearestName } from '../../base/suggestions.ts'
import { UsageError } from './usage-error.ts'
import type { OptionTable } from './verbs.ts'

/** Parses options and words; throws a UsageError for an unknown option, with the nearest known one. */
export function readArguments<const Table extends OptionTable>(
  args: readonly string[],
  options: Table,
  { usage, takesWords = true }: { readonly usage: string; readonly takesWords?: boolean },
) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: takesWords })
  } catch (error) {
    // parseArgs throws only TypeErrors with a message about the problem
    const [message = ''] = (error as Error).message.split(/(?<=')\. To specify a positional/) // the hint is for another case
    const unknown = /^Unknown option '--([^']+)'/.exec(message)?.[1]
    const meant = unknown === undefined ? undefined : nearestName(unknown, Object.keys(options))
    throw new UsageError(meant === undefined ? message : `${message}. Did you mean --${meant}?`, usage)
  }
}

/** The error for an unknown sub-command, with the nearest known one. */
export function unknownWord(word: string, words: readonly string[], usage: string): UsageError {
  const meant = nearestName(word, words)
  const hint = meant === undefined ? '' : ` Did you mean "${meant}"?`
  return new UsageError(`There is no command ${JSON.stringify(word)}.${hint}`, usage)
}
