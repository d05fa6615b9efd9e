import { arrayStream, JsonStream } from '../json/json-stream.ts'
import type { Window, Windowing } from '../versioning/pagination.ts'
import type { Answer } from './endpoint.ts'

/** The answer of a list: its rows, their number, and where to go on when more remain (rulings 1.2, 1.8). */
export function answerList(
  key: string,
  window: Window<unknown>,
  asked: Windowing | undefined,
  records: readonly object[],
): Answer {
  return answer(key, window, asked, records.length, records)
}

/** Records with payloads are held all at once if they are no more than so many. */
const FEW = 20

/**
 * The same where each record may be large, or is none (undefined), which leaves it out. Of many, each is made when it is written, so that
 * no more of them is in memory and others have their turn in between; how many they were is said behind them.
 */
export async function answerLargeList<T>(
  key: string,
  window: Window<T>,
  asked: Windowing | undefined,
  show: (row: T) => Promise<object | undefined>,
): Promise<Answer> {
  const { rows } = window
  if (rows.length <= FEW) {
    const records: object[] = []
    for (const row of rows) {
      const record = await show(row)
      if (record) records.push(record)
    }
    return answer(key, window, asked, records.length, records)
  }
  let count = 0
  const counted = async (row: T): Promise<object | undefined> => {
    const record = await show(row)
    if (record) count++
    return record
  }
  const counting = async function* (): AsyncGenerator<string> {
    yield String(count)
  }
  return answer(key, window, asked, new JsonStream(counting()), arrayStream(rows, counted))
}

function answer(
  key: string,
  { next }: Window<unknown>,
  asked: Windowing | undefined,
  count: number | JsonStream,
  records: object,
): Answer {
  const page = next === undefined ? {} : { windowing: { ...asked, next } }
  return {
    body:
      count instanceof JsonStream ? { [key]: records, count, ...page } : { count, [key]: records, ...page },
  }
}
