import { expect } from 'chai'
import { mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { git } from '../support/git/git-program.ts'
import type { RunningService } from '../support/servers/service.ts'
import { startService } from '../support/servers/service.ts'
import { bugsAbout, failuresAmong, makeHealthy } from './ask-everything.ts'
import { OddGit } from './odd-git.ts'
import type { Oddity } from './oddities.ts'
import { ODDITIES, ODD_ENVIRONMENTS, ODD_TESTSETS } from './oddities.ts'

const TABLE: readonly (readonly [string, string, Oddity])[] = [
  ['workflows', 'nothing odd', () => undefined],
  ...Object.entries(ODDITIES).map(([what, make]) => ['workflows', what, make] as const),
  ...Object.entries(ODD_TESTSETS).map(([what, make]) => ['testsets', what, make] as const),
  ...Object.entries(ODD_ENVIRONMENTS).map(([what, make]) => ['environments', what, make] as const),
]

describe('compat: one odd thing makes no list of others fail', () => {
  let service: RunningService
  /** Where each goes once it was looked at by itself. */
  const aside = mkdtempSync(join(tmpdir(), 'odd-things-'))
  const apart: (readonly [string, string])[] = []
  before(async () => {
    service = await startService()
    await makeHealthy(service)
  })
  after(async () => {
    await service.stop()
    rmSync(aside, { recursive: true })
  })

  for (const [number, [family, what, make]] of TABLE.entries()) {
    it(`${family}: ${what}`, async () => {
      const slug = `odd-${number}x`
      const path = await makeOdd(service, family, slug)
      make(new OddGit(path, slug))
      try {
        // By its name first: then the lists know of it.
        expect(await bugsAbout(service, slug, family)).to.deep.equal([])
        expect(await failuresAmong(service, slug, family)).to.deep.equal([])
      } finally {
        const place = join(aside, slug)
        renameSync(path, place)
        if (!what.endsWith('10 MB')) apart.push([place, path]) // those are as odd as others, and only slow
        await bugsAbout(service, slug, family)
      }
    })
  }

  it('nor do all of them at once, at a start', async () => {
    expect(apart).to.have.length.above(150)
    await service.stop({ keepStore: true })
    for (const [place, path] of apart) renameSync(place, path)
    service = await startService({ storeDir: service.storeDir })
    expect((await failuresAmong(service, 'healthy')).slice(0, 5)).to.deep.equal([])
    const { damaged } = (await service.get('/ready')).body
    expect(damaged.length).to.be.greaterThan(20)
  })
})

/** An artifact of two revisions, which nothing is wrong with; answers its repository. */
async function makeOdd(service: RunningService, family: string, slug: string): Promise<string> {
  const path = service.repository(slug, family)
  const singular = family.slice(0, -1)
  const data = { workflows: { parameters: {} }, testsets: { testcases: [{ data: { a: 1 } }] } }[family] ?? {}
  const { status, text, body } = await service.post(`/simple/${family}/`, {
    [singular]: {
      slug,
      ...(family === 'environments' ? {} : { data }),
      flags: family === 'workflows' ? { is_application: true } : {},
    },
  })
  expect(status, text).to.equal(200)
  if (family === 'environments') await deploy(service, slug)
  expect(git(path, ['rev-list', '--count', `refs/heads/${slug}`]), JSON.stringify(body)).to.equal('1')
  return path
}

async function deploy(service: RunningService, slug: string): Promise<void> {
  await service.post('/workflows/revisions/deploy', {
    workflow_ref: { slug: 'healthy' },
    environment_ref: { slug },
  })
}
