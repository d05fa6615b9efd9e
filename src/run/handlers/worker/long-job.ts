import { codePoints } from '../metrics/code-points.ts'
import { compilePattern } from './compile-pattern.ts'
import { levenshteinSimilarity } from '../metrics/levenshtein-similarity.ts'
import { sequenceSimilarity } from '../metrics/sequence-similarity.ts'

/** A possibly long job, in a form that can be sent to another thread. */
export type WorkerJob = Computation | SchemaJob

/** A job that needs no library, so it starts at once. */
export type Computation =
  | {
      readonly kind: 'pattern'
      readonly pattern: string
      readonly isCaseSensitive: boolean
      readonly text: string
    }
  | { readonly kind: 'levenshtein'; readonly a: string; readonly b: string }
  | { readonly kind: 'sequence'; readonly a: string; readonly b: string; readonly mostSteps: number }

/** A schema and a value, as JSON text; `part` is the value's name. */
export interface SchemaJob {
  readonly kind: 'schema'
  readonly schema: string
  readonly part: string
  readonly value: string
}

/**
 * The result of a job. A problem is a sentence for the caller; `unusable` says why the input cannot be used.
 */
export type WorkerJobResult =
  | { readonly found: number | boolean | undefined }
  | { readonly problem: string }
  | { readonly unusable: string }

/** Runs a job on this thread. */
export function doWorkerJob(job: Computation): WorkerJobResult {
  switch (job.kind) {
    case 'pattern':
      return searched(job.pattern, job.isCaseSensitive, job.text)
    case 'levenshtein':
      return { found: levenshteinSimilarity(codePoints(job.a), codePoints(job.b)) }
    case 'sequence':
      return { found: sequenceSimilarity(codePoints(job.a), codePoints(job.b), job.mostSteps) }
  }
}

function searched(pattern: string, isCaseSensitive: boolean, text: string): WorkerJobResult {
  try {
    return { found: compilePattern(pattern, isCaseSensitive).test(text) }
  } catch (error) {
    if (error instanceof SyntaxError) return { problem: error.message }
    // the search's backtracking stack is full
    if (error instanceof RangeError) return { problem: 'the search took more memory than it may' }
    throw error
  }
}
