/** The part of `process.stderr` that shows progress. */
export interface ProgressOutput {
  readonly isTTY?: boolean
  readonly columns?: number
  write(text: string): unknown
}

/**
 * Shows the current `line` again and again until the answered function is called. A terminal has one line that is rewritten and erased at the
 * end; a log gets a new line every few seconds, and none for short work.
 */
export function showProgress(output: ProgressOutput, line: () => string): () => void {
  const { isTTY = false } = output
  const show = (): void => {
    const width = (output.columns || 80) - 1 // a full line would wrap and could not be rewritten
    output.write(isTTY ? `\r${line().slice(0, width)}${ERASE_TO_END}` : `${line()}\n`)
  }
  const timer = setInterval(show, isTTY ? MS_BETWEEN_REDRAWS : MS_BETWEEN_LOG_LINES).unref()
  return () => {
    clearInterval(timer)
    if (isTTY) output.write(ERASE_LINE)
  }
}

const MS_BETWEEN_REDRAWS = 100
const MS_BETWEEN_LOG_LINES = 3000

/** ECMA-48: erase in line. */
const ERASE_TO_END = '\x1b[K'

/** Written before a line of output, to erase the progress. */
export const ERASE_LINE = `\r${ERASE_TO_END}`
