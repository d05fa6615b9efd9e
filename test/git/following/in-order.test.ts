import { expect } from 'chai'
import { inOrder } from '../../../src/cluster/following/log-follower.ts'
import type { LogEntry } from '../../../src/cluster/following/shared-log.ts'

describe('git: the order of what is read of a log', () => {
  it('is that of the versions of each repository, however the streams lie, also over joint writes and moves', () => {
    const first = entry('2', 1, { a: 1 })
    const second = entry('1', 1, { a: 2, b: 1 })
    const third = entry('2', 2, { b: 2, c: 1 })
    const moved: LogEntry = {
      ...entry('1', 2, {}),
      moved: { from: 'p/f/c.git', to: 'p/.trash/f/c.git', stamp: 's', version: 2 },
    }
    const last = entry('3', 1, { c: 3 })
    for (const read of [
      [last, moved, third, second, first],
      [second, moved, first, third, last],
      [first, second, third, moved, last],
    ])
      expect(inOrder(read)).to.deep.equal([first, second, third, moved, last])
  })
})

function entry(stream: string, n: number, versions: Readonly<Record<string, number>>): LogEntry {
  const writes = Object.entries(versions).map(([name, version]) => ({
    repository: `p/f/${name}.git`,
    version,
    moves: [],
    packs: [],
  }))
  return { stream, n, item: 0, writes }
}
