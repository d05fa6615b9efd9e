import { invalid } from '../../errors.ts'
import { readArguments } from '../command/read-arguments.ts'
import { UsageError } from '../command/usage-error.ts'
import type { OptionTable } from '../command/verbs.ts'

/** Parses the arguments after the sub-command: options and one word. `named` names the word in messages: `The file`. */
export function readOptions<const Table extends OptionTable>(
  args: readonly string[],
  options: Table,
  { usage, named }: { readonly usage: string; readonly named: string },
) {
  const { values, positionals } = readArguments(args, options, { usage })
  const [word, ...rest] = positionals
  if (word === undefined) throw new UsageError(`${named} is missing.`, usage)
  if (rest.length > 0) throw new UsageError(`"${rest[0]}" is one word too many.`, usage)
  return { values, word }
}

/** The value of `--type`; undefined without the option. Refuses other types. */
export function typeOption<T extends string>(value: string | undefined, types: readonly T[]): T | undefined {
  const type = types.find((it) => it === value)
  if (type !== undefined || value === undefined) return type
  throw invalid(['--type'], `"${value}" is not a type of file; give one of ${types.join(', ')}.`)
}
