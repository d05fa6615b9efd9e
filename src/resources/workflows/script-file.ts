/** The languages a custom code workflow may be written in (interface 2.3). */
export const runtimes: readonly string[] = ['python', 'typescript', 'javascript']

/** The names a handler's source may have in a commit's tree, one for each of `runtimes` in turn (design 1). */
export const scriptFiles: readonly string[] = ['script.py', 'script.ts', 'script.js']

/** The name of the source in this language; undefined if it is none of `runtimes`. */
export function scriptFile(runtime: unknown): string | undefined {
  return typeof runtime === 'string' ? scriptFiles[runtimes.indexOf(runtime)] : undefined
}
