import { BoundedCache } from '../../../cache/bounded-cache.ts'

/** Row counts by tree for `countRows`, which never change; a million rows have four thousand trees. */
export const rowCounts = new BoundedCache<string, number>(200_000, () => 1)
