import type { Config } from '../config.ts'
import type { ResourceSettings } from '../resources/surfaces.ts'

/** More columns than any table has: what is past this is a file that is none. */
const MAX_COLUMNS = 10_000

/** What of the configuration shapes resources. */
export function resourceSettings({ testsetMaxRows, testsetMaxRowBytes }: Config): ResourceSettings {
  return {
    testsets: { maxRows: testsetMaxRows, maxRowBytes: testsetMaxRowBytes, maxColumns: MAX_COLUMNS },
  }
}
