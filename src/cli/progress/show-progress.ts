/** Where progress is shown: what of `process.stderr` it takes. */
export interface ProgressOutput {
  readonly isTTY?: boolean
  readonly columns?: number
  write(text: string): unknown
}

/**
 * Shows a line that is asked for again and again until the answered function is called: on a terminal one that is rewritten
 * in place and gone at the end, elsewhere (a log) a new one every few seconds, none for what takes less.
 */
export function showProgress(output: ProgressOutput, line: () => string): () => void {
  const { isTTY = false } = output
  const show = (): void => {
    const width = (output.columns || 80) - 1 // a full line would wrap, and could not be rewritten
    output.write(isTTY ? `\r${line().slice(0, width)}${ERASE_TO_END}` : `${line()}\n`)
  }
  const timer = setInterval(show, isTTY ? REDRAW_EVERY : LOG_EVERY).unref()
  return () => {
    clearInterval(timer)
    if (isTTY) output.write(ERASE_LINE)
  }
}

/** Milliseconds. */
const REDRAW_EVERY = 100
const LOG_EVERY = 3000

/** ECMA-48: erase in line. */
const ERASE_TO_END = '\x1b[K'

/** Written before a line that must not follow the progress. */
export const ERASE_LINE = `\r${ERASE_TO_END}`
