import { expect } from 'chai'
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

describe('tightening the heap', () => {
  it('gives back the holes between what is alive, which V8 by itself goes on holding', () => {
    const program = fileURLToPath(new URL('./leave-holes.js', import.meta.url))
    const { status, stderr } = spawnSync(process.execPath, [program], { encoding: 'utf8', timeout: 150_000 })
    expect([status, stderr]).to.deep.equal([0, ''])
  })
})
