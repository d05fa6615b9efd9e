import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path/posix'

/** A file of the source, as the rules of the house look at it. Paths are relative to the folder that the check runs in. */
export interface SourceFile {
  readonly path: string
  readonly lines: number
  /** Paths of the files it imports, types included, each once. */
  readonly imports: readonly string[]
  /** Packages and `node:` modules it imports, each once. */
  readonly packages: readonly string[]
  /** Names that it declares and exports. */
  readonly exports: readonly string[]
  readonly text: string
}

/** Reads every TypeScript file below the folder, but for those below `but`. */
export function readSource(folder: string, but?: string): SourceFile[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return path === but ? [] : readSource(path, but)
    return /\.tsx?$/.test(entry.name) ? [readFile(path)] : []
  })
}

const IMPORT = /^\s*(?:import|export)\b[^'"]*?from '([^']+)'|^import '([^']+)'|import\('([^']+)'\)/gm
const EXPORT =
  /^export (?:declare )?(?:default )?(?:async )?(?:abstract )?(?:function\*?|const|let|class|interface|type|enum) (\w+)/gm

function readFile(path: string): SourceFile {
  const text = readFileSync(path, 'utf8')
  const targets = [...text.matchAll(IMPORT)].map(([, from, bare, dynamic]) => from ?? bare ?? dynamic ?? '')
  const own = targets.filter((target) => target.startsWith('.'))
  return {
    path,
    lines: text.split('\n').length - 1,
    imports: [...new Set(own.map((target) => normalize(join(dirname(path), target))))],
    packages: [...new Set(targets.filter((target) => !target.startsWith('.')))],
    // an overloaded function is declared more than once
    exports: [...new Set([...text.matchAll(EXPORT)].map(([, name = '']) => name))],
    text,
  }
}
