import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path/posix'

/** A file of the source, as the rules of the house look at it. Paths are relative to the folder that the check runs in. */
export interface SourceFile {
  readonly path: string
  readonly lines: number
  /** Paths of the files it imports, types included, each once. */
  readonly imports: readonly string[]
  /** What it imports by name, and from which file. */
  readonly named: readonly NamedImport[]
  /** What it exports that another file declares, as a door of a room does. */
  readonly passedOn: readonly NamedImport[]
  /** Packages and `node:` modules it imports, each once. */
  readonly packages: readonly string[]
  /** Names that it declares and exports. */
  readonly exports: readonly string[]
  readonly text: string
}

export interface NamedImport {
  readonly target: string
  readonly name: string
}

/** Reads every TypeScript file below the folder, but for those below `but`. */
export function readSource(folder: string, but?: string): SourceFile[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return path === but ? [] : readSource(path, but)
    return /\.tsx?$/.test(entry.name) ? [readFile(path)] : []
  })
}

/**
 * By path, the files that each of these needs: what it imports through the door of a room is of the file that declares it, and a door itself
 * needs nothing.
 */
export function neededFiles(files: readonly SourceFile[]): ReadonlyMap<string, readonly string[]> {
  const doors = new Map(
    files.map(({ path, passedOn }) => [path, new Map(passedOn.map((it) => [it.name, it.target]))]),
  )
  return new Map(
    files.map(({ path, imports, named, passedOn }) => {
      const declaring = named.map(({ target, name }) => doors.get(target)?.get(name) ?? target)
      const others = imports.filter((target) => !named.some((it) => it.target === target))
      const isPassing = new Set(passedOn.map(({ target }) => target))
      return [path, [...new Set([...declaring, ...others])].filter((target) => !isPassing.has(target))]
    }),
  )
}

const IMPORT = /^\s*(?:import|export)\b[^'"]*?from '([^']+)'|^import '([^']+)'|import\('([^']+)'\)/gm
const NAMED = /^(import|export) (?:type )?\{([^}]*)\} from '(\.[^']+)'/gm
const LOADED = /\{([^{}]*)\} = await import\('(\.[^']+)'\)/g
const EXPORT =
  /^export (?:declare )?(?:default )?(?:async )?(?:abstract )?(?:function\*?|const|let|class|interface|type|enum) (\w+)/gm

function readFile(path: string): SourceFile {
  const text = readFileSync(path, 'utf8')
  const targets = [...text.matchAll(IMPORT)].map(([, from, bare, dynamic]) => from ?? bare ?? dynamic ?? '')
  const own = targets.filter((target) => target.startsWith('.'))
  const named = [...text.matchAll(NAMED)].flatMap(([, word, names = '', target = '']) =>
    names
      .split(',')
      .map((it) =>
        it
          .trim()
          .replace(/^type /, '')
          .replace(/ as .*$/s, ''),
      )
      .filter((name) => name !== '')
      .map((name) => ({ word, name, target: from(path, target) })),
  )
  const loaded = [...text.matchAll(LOADED)].flatMap(([, names = '', target = '']) =>
    names.split(',').map((name) => ({ name: name.trim(), target: from(path, target) })),
  )
  return {
    path,
    lines: text.split('\n').length - 1,
    imports: [...new Set(own.map((target) => from(path, target)))],
    named: [...named.filter(({ word }) => word === 'import'), ...loaded],
    passedOn: named.filter(({ word }) => word === 'export'),
    packages: [...new Set(targets.filter((target) => !target.startsWith('.')))],
    // an overloaded function is declared more than once
    exports: [...new Set([...text.matchAll(EXPORT)].map(([, name = '']) => name))],
    text,
  }
}

function from(path: string, target: string): string {
  return normalize(join(dirname(path), target))
}
