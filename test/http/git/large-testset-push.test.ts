import { expect } from 'chai'
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { git } from '../../support/git/git-program.ts'
import type { RunningService } from '../../support/servers/service.ts'
import { startService } from '../../support/servers/service.ts'
import type { Clone } from '../../support/git/git-client.ts'
import { cloneOf, latest } from '../../support/git/git-client.ts'

const ROWS = 5000

describe('git: a push of a large testset', () => {
  let service: RunningService
  let clone: Clone
  before(async () => {
    service = await startService()
    await service.post('/simple/testsets/', {
      testset: { slug: 'many', data: { testcases: [{ data: { text: 'first' } }] } },
    })
    clone = await cloneOf(service, 'many', { family: 'testsets' })
  })
  after(() => service.stop())

  it('rows that git fast-import wrote, all in one commit and then each in one of its own', async () => {
    await importRows(clone, 0, ROWS, ROWS)
    await clone.git('push', '-q')
    expect(await count()).to.deep.equal([2, ROWS + 1])
    await importRows(clone, ROWS, 40, 1)
    await clone.git('push', '-q')
    expect(await count()).to.deep.equal([42, ROWS + 41])
    expect(git(service.repository('many', 'testsets'), ['fsck', '--strict'])).to.equal('')
  })

  it('one more row among them is refused if any other has its dedup id, and taken otherwise', async () => {
    mkdirSync(dirname(join(clone.folder, fileOf(60_000))), { recursive: true })
    clone.write(fileOf(60_000), readFileSync(join(clone.folder, fileOf(1234))))
    await clone.commit('Twin')
    expect((await clone.try('push')).terminal).to.include(
      `remote: Commit ${await clone.git('rev-parse', 'HEAD')} cannot be a testset revision: ${fileOf(60_000)} and ` +
        `${fileOf(1234)} have the same testcase_dedup_id, "row-1234"`,
    )
    clone.write(fileOf(60_000), rowOf(60_000))
    await clone.git('add', '-A')
    await clone.git('commit', '-q', '--amend', '--no-edit')
    await clone.git('push', '-q')
    expect(await count()).to.deep.equal([43, ROWS + 42])
  })

  /** Version and number of rows, as REST has them. */
  async function count(): Promise<readonly number[]> {
    const { version, data } = await latest(service, 'many', 'testset')
    return [version, data.testcases.length]
  }
})

/** Adds rows `from`, `from + 1` …, `each` in one commit, with the program that is made for it. */
async function importRows({ folder, git }: Clone, from: number, rows: number, each: number): Promise<void> {
  let stream = ''
  for (let number = from; number < from + rows; number++) {
    if ((number - from) % each === 0) {
      const start = number === from ? `from ${await git('rev-parse', 'HEAD')}\n` : ''
      stream += `commit refs/heads/many\ncommitter Ann <ann@example.com> ${1_700_000_000 + number} +0000\ndata 3\nAdd\n${start}`
    }
    const row = rowOf(number)
    stream += `M 100644 inline ${fileOf(number)}\ndata ${row.length}\n${row}\n`
  }
  execFileSync('git', ['fast-import', '--quiet', '--force'], { cwd: folder, input: stream })
  await git('reset', '-q', '--hard')
}

function rowOf(number: number): string {
  return `{"testcase_dedup_id":"row-${number}","text":"the text of row ${number}"}\n`
}

/** Where it lies: the folder of the first row and those after it, from the second place on. */
function fileOf(number: number): string {
  const place = number + 1
  const parts = [Math.floor(place / 255 / 256), Math.floor(place / 255) % 256, (place % 255) + 1]
  return `testcases/${parts.map((part) => part.toString(16).padStart(2, '0')).join('/')}.json`
}
