import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import type { RunningService } from '../../support/servers/service.ts'
import { startService } from '../../support/servers/service.ts'
import type { Clone } from '../../support/git/git-client.ts'
import { cloneOf, latest } from '../../support/git/git-client.ts'

describe('git: pushes to a testset', () => {
  let service: RunningService
  let clone: Clone
  let start: string
  before(async () => {
    service = await startService()
    await service.post('/simple/testsets/', {
      testset: {
        slug: 'capitals',
        data: { testcases: ['Oslo', 'Lima', 'Bern'].map((capital) => ({ data: { capital } })) },
      },
    })
    clone = await cloneOf(service, 'capitals', { family: 'testsets' })
  })
  after(() => service.stop())
  beforeEach(async () => {
    await clone.git('fetch', '-q')
    await clone.git('reset', '-q', '--hard', '@{upstream}')
    start = await clone.git('rev-parse', 'HEAD')
  })

  const rows = async (): Promise<readonly unknown[]> =>
    (await latest(service, 'capitals', 'testset')).data.testcases.map((it: { data: unknown }) => it.data)

  it('takes a row that was edited, one that was added and one that was removed', async () => {
    clone.write('testcases/00/00/01.json', '{"capital":"Oslo!","testcase_dedup_id":"oslo"}\n')
    clone.write('testcases/00/00/09.json', '{"capital":"Quito","testcase_dedup_id":"quito"}\n')
    clone.write('testcases/00/00/09.meta.json', '{"tags":{"checked":true}}\n')
    rmSync(join(clone.folder, 'testcases/00/00/02.json'))
    await clone.commit('By hand')
    await clone.git('push', '-q')
    expect((await rows()).map((row) => (row as { capital: string }).capital)).to.deep.equal([
      'Oslo!',
      'Bern',
      'Quito',
    ])
  })

  for (const [what, path, content, says] of [
    [
      'is not canonical',
      '01',
      '{"capital": "Oslo", "testcase_dedup_id": "o"}\n',
      /is not canonical JSON .* branchpoint canonicalise DIR/,
    ],
    ['has no newline', '01', '{"capital":"Oslo","testcase_dedup_id":"o"}', /is not canonical JSON/],
    [
      'has no dedup id',
      '01',
      '{"capital":"Oslo"}\n',
      /has no testcase_dedup_id.* branchpoint canonicalise DIR/,
    ],
    ['is no object', '01', '[]\n', /is JSON, but no object/],
    ['is no JSON', '01', 'Oslo\n', /is no JSON/],
    ['has a name that is no position', '0A', '{"testcase_dedup_id":"o"}\n', /0A\.json is no place for a row/],
    [
      'has a name that only a folder may have',
      '00',
      '{"testcase_dedup_id":"o"}\n',
      /00\.json is no place for a row/,
    ],
    [
      'is metadata of a row that is not there',
      '77.meta',
      '{"tags":{}}\n',
      /77\.meta\.json belongs to .*77\.json, which is not there/,
    ],
    ['is metadata of another kind', '03.meta', '{"colour":{}}\n', /may hold flags, tags and meta.*"colour"/],
  ] as const) {
    it(`refuses a row that ${what}`, async () => {
      clone.write(`testcases/00/00/${path}.json`, content)
      await clone.commit('Bad row')
      const { code, terminal } = await clone.try('push')
      expect(code).to.equal(1)
      expect(terminal).to.match(/remote: .*testcases\/00\/00\//)
      expect(terminal).to.match(says)
      expect(await clone.git('ls-remote', 'origin', 'refs/heads/capitals')).to.include(start)
    })
  }

  it('refuses two rows with one dedup id, wherever they lie', async () => {
    const row = readFileSync(join(clone.folder, 'testcases/00/00/03.json'))
    mkdirSync(join(clone.folder, 'testcases/07/07'), { recursive: true })
    clone.write('testcases/07/07/07.json', row)
    await clone.commit('Twin')
    const { terminal } = await clone.try('push')
    expect(terminal).to.match(
      /remote: .*07\/07\/07\.json and .*00\/00\/03\.json have the same testcase_dedup_id/,
    )
  })

  it('refuses rows that hide in a folder pushed before under another name', async () => {
    mkdirSync(join(clone.folder, 'aside/00/00'), { recursive: true })
    clone.write('aside/00/00/01.json', 'not a row\n')
    await clone.commit('Something else')
    await clone.git('push', '-q')
    rmSync(join(clone.folder, 'testcases'), { recursive: true })
    await clone.git('mv', 'aside', 'testcases')
    await clone.commit('Now rows')
    const { terminal } = await clone.try('push')
    expect(terminal).to.match(/remote: .*testcases\/00\/00\/01\.json is no JSON/)
    await clone.git('reset', '-q', '--hard', '@{upstream}')
    await clone.git('rm', '-rq', 'aside')
    await clone.commit('Tidy')
    await clone.git('push', '-q')
  })

  it('fmt makes of a refused push one that is taken, and says what it changed', async () => {
    clone.write('testcases/00/00/0a.json', '{\n  "country": "Chad",\n  "capital": "N’Djamena"\n}')
    clone.write('columns.json', '["capital","country"]')
    await clone.commit('Chad')
    expect((await clone.try('push')).code).to.equal(1)
    expect(format(clone.folder)).to.equal('columns.json\ntestcases/00/00/0a.json\n2 files changed\n')
    expect(format(clone.folder)).to.equal('0 files changed\n')
    await clone.git('add', '-A')
    await clone.git('commit', '-q', '--amend', '--no-edit')
    await clone.git('push', '-q')
    expect((await rows()).at(-1)).to.include({ country: 'Chad', capital: 'N’Djamena' })
  })

  it('fmt names what it cannot read', async () => {
    clone.write('testcases/00/00/0b.json', 'Chad')
    const run = (): string => format(clone.folder)
    expect(run).to.throw(/testcases\/00\/00\/0b\.json: JSON line 1/)
  })
})

/** Runs the script and answers what it prints. */
function format(folder: string): string {
  return execFileSync(process.execPath, ['dist/src/cli/main.js', 'canonicalise', folder], {
    encoding: 'utf8',
    stdio: 'pipe',
  })
}
