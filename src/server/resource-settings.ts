import type { Config } from '../config.ts'
import type { ResourceSettings } from '../registry/families.ts'

/** A file with more columns than this is not a table. */
const MAX_COLUMNS = 10_000

/** The configuration of resources. */
export function resourceSettings({ testsetMaxRows, testsetMaxRowBytes }: Config): ResourceSettings {
  return {
    testsets: { maxRows: testsetMaxRows, maxRowBytes: testsetMaxRowBytes, maxColumns: MAX_COLUMNS },
  }
}
