import { parseArgs } from 'node:util'
import { nearestName } from '../../suggestions/nearest-name.ts'
import { UsageError } from './usage-error.ts'
import type { OptionTable } from './verbs.ts'

/** Reads the options and the words of a command line; throws a UsageError, which names an option that is not in the table. */
export function readArguments<const Table extends OptionTable>(
  args: readonly string[],
  options: Table,
  { usage, takesWords = true }: { readonly usage: string; readonly takesWords?: boolean },
) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: takesWords })
  } catch (error) {
    // parseArgs throws nothing but TypeErrors that say what is wrong
    const [message = ''] = (error as Error).message.split(/(?<=')\. To specify a positional/) // a hint for another case
    const unknown = /^Unknown option '--([^']+)'/.exec(message)?.[1]
    const meant = unknown === undefined ? undefined : nearestName(unknown, Object.keys(options))
    throw new UsageError(meant === undefined ? message : `${message}. Did you mean --${meant}?`, usage)
  }
}

/** The refusal of a sub-command that is not there, with the one that may be meant. */
export function unknownWord(word: string, words: readonly string[], usage: string): UsageError {
  const meant = nearestName(word, words)
  const hint = meant === undefined ? '' : ` Did you mean "${meant}"?`
  return new UsageError(`There is no command ${JSON.stringify(word)}.${hint}`, usage)
}
