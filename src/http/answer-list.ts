import type { Window, Windowing } from '../versioning/windowing.ts'
import type { Answer } from './endpoint.ts'

/** The answer of a list: its rows, their number, and where to go on when more remain (rulings 1.2, 1.8). */
export function answerList(
  key: string,
  window: Window<unknown>,
  asked: Windowing | undefined,
  records: readonly object[],
): Answer {
  const { next } = window
  return {
    body: {
      count: records.length,
      [key]: records,
      ...(next === undefined ? {} : { windowing: { ...asked, next } }),
    },
  }
}
