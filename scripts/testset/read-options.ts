import { parseArgs } from 'node:util'
import { invalid } from '../../src/errors.ts'
import type { FileType } from '../../src/resources/testsets/import/collect-file.ts'
import { FILE_TYPES } from '../../src/resources/testsets/import/collect-file.ts'
import { UsageError } from '../command/usage-error.ts'

/** What a command line may hold after the command: options with a text, options without, and so many words. */
export interface CommandLine<Text extends string, Flag extends string> {
  readonly usage: string
  readonly texts: readonly Text[]
  readonly flags: readonly Flag[]
  /** What the one word is that has to be there, as a sentence names it: `the file`. */
  readonly word: string
}

/** The options as they were given, and the word. */
export type Options<Text extends string, Flag extends string> = Readonly<
  Partial<Record<Text, string>> & Record<Flag, boolean> & { word: string }
>

/** Reads the arguments after the command; throws a UsageError for anything else than `line` allows. */
export function readOptions<const Text extends string, const Flag extends string>(
  args: readonly string[],
  line: CommandLine<Text, Flag>,
): Options<Text, Flag> {
  const { values, positionals } = parsed(args, line)
  const [word, ...rest] = positionals
  if (word === undefined) throw new UsageError(`${line.word} is missing.`, line.usage)
  if (rest.length > 0) throw new UsageError(`"${rest[0]}" is one word too many.`, line.usage)
  const given = new Map(Object.entries(values))
  const flags = Object.fromEntries(line.flags.map((name) => [name, given.has(name)]))
  return { ...values, ...flags, word } as Options<Text, Flag> // parseArgs lets only these names and kinds through
}

/** The file type that `--type` names; undefined without the option. */
export function typeOption(value: string | undefined): FileType | undefined {
  const type = FILE_TYPES.find((it) => it === value)
  if (type !== undefined || value === undefined) return type
  throw invalid(['--type'], `"${value}" is not a type of file; give one of ${FILE_TYPES.join(', ')}.`)
}

function parsed(args: readonly string[], { usage, texts, flags }: CommandLine<string, string>) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: Object.fromEntries([
        ...texts.map((name) => [name, { type: 'string' }] as const),
        ...flags.map((name) => [name, { type: 'boolean' }] as const),
      ]),
    })
  } catch (error) {
    // parseArgs throws nothing but TypeErrors that say what is wrong
    throw new UsageError((error as Error).message, usage)
  }
}
