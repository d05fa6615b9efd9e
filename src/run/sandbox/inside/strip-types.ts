import { transformSync } from '@swc/wasm-typescript'
import type { ReportedFailure } from './messages.ts'

export type StripTypes = (script: string) => { readonly code: string } | { readonly failure: ReportedFailure }

/**
 * Converts TypeScript to JavaScript. Types become spaces, so lines and columns stay. Only scripts with features beyond types (enums,
 * namespaces, constructor properties) are rewritten, and their lines may move.
 */
export const stripTypes: StripTypes = (script) => {
  try {
    return { code: transformed(script, 'strip-only') }
  } catch (error) {
    if (mistakeIn(error).code !== 'UnsupportedSyntax') return { failure: asFailure(error) }
  }
  try {
    return { code: transformed(script, 'transform') }
  } catch (error) {
    return { failure: asFailure(error) }
  }
}

function transformed(script: string, mode: 'strip-only' | 'transform'): string {
  return transformSync(script, { mode, filename: FILE }).code
}

const FILE = 'script.ts'

/** What the transpiler throws; not an Error. */
interface Mistake {
  readonly code?: string
  readonly message?: string
  readonly snippet?: string
  readonly startLine?: number
  readonly startColumn?: number
}

function mistakeIn(error: unknown): Mistake {
  return typeof error === 'object' && error !== null ? error : {}
}

function asFailure(error: unknown): ReportedFailure {
  const { message = 'it cannot be read', snippet = '', startLine = 1, startColumn = 0 } = mistakeIn(error)
  return {
    kind: 'syntax',
    message: `SyntaxError: ${message}`,
    stacktrace: [`at ${FILE}:${startLine}:${startColumn + 1}`, ...snippet.trimEnd().split('\n').slice(0, 10)],
  }
}
