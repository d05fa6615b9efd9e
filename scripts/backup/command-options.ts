import { parseArgs } from 'node:util'
import { checkProjectName } from '../../src/access/project-name.ts'
import { UsageError } from '../command/usage-error.ts'

/** Reads a command line of options that each take a text; throws a UsageError for anything else. */
export function commandOptions<const Name extends string>(
  args: readonly string[],
  names: readonly Name[],
  usage: string,
): Readonly<Partial<Record<Name, string>>> {
  const options = parsed(args, names, usage)
  const project = options.project
  if (project !== undefined) checkProjectName(project)
  return options as Partial<Record<Name, string>> // parseArgs lets only these names and texts through
}

function parsed(args: readonly string[], names: readonly string[], usage: string): Record<string, string> {
  try {
    const options = Object.fromEntries(names.map((name) => [name, { type: 'string' }] as const))
    return { ...parseArgs({ args: [...args], options }).values } as Record<string, string> // they are all of type string
  } catch (error) {
    // parseArgs throws nothing but TypeErrors that say what is wrong
    throw new UsageError((error as Error).message, usage)
  }
}
