/** The languages a custom code workflow may be written in (interface 7.7). */
export const runtimes: readonly string[] = ['python', 'typescript', 'javascript']

/** The names a handler's source may have in a commit's tree, one for each of `runtimes` in turn (interface 15.5). */
export const scriptFiles: readonly string[] = ['script.py', 'script.ts', 'script.js']

/** The name of the source in this language; undefined if it is none of `runtimes`. */
export function scriptFile(runtime: unknown): string | undefined {
  return typeof runtime === 'string' ? scriptFiles[runtimes.indexOf(runtime)] : undefined
}
