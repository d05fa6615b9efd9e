import { expect } from 'chai'
import { createHash } from 'node:crypto'
import { git, gitBytes } from '../../support/git/git-program.ts'
import type { Reply } from '../../support/servers/service.ts'
import { ADMIN_KEY } from '../../support/servers/service.ts'
import { objectUuid, repositoryDigits } from '../../../src/registry/store/ids.ts'
import { expectRefusal, SurfaceClient } from '../conformance/surface-client.ts'
import { testedSurfaces } from '../conformance/tested-surface.ts'
import type { EnvironmentClient } from '../environments/environment-client.ts'
import { startEnvironments } from '../environments/environment-client.ts'
import { rawRequest } from '../raw-request.ts'

describe('the files of a revision', () => {
  let client: EnvironmentClient
  before(async () => (client = await startEnvironments()))
  after(() => client.stop())

  const base = (id: string): string => `/applications/revisions/${id}/files`
  const list = async (id: string, query = ''): Promise<Reply> => {
    const reply = await client.service.get(`${base(id)}${query}`)
    expect(reply.status, reply.text).to.equal(200)
    return reply
  }

  /** A commit on top of the application's branch, of a tree of such lines; answers the revision's id. */
  const pushed = (slug: string, lines: readonly string[]): string => {
    const repository = client.service.repository(slug)
    const tree = git(repository, ['mktree', '--missing'], lines.map((it) => `${it}\n`).join(''))
    const oid = git(repository, ['commit-tree', tree, '-p', slug, '-m', 'Files'])
    client.gitOf(slug, 'update-ref', `refs/heads/${slug}`, oid)
    const { id } = JSON.parse(client.gitOf(slug, 'show', 'refs/meta/artifact:artifact.json'))
    return objectUuid(oid, repositoryDigits(id))
  }
  const blob = (slug: string, bytes: Buffer | string): string =>
    git(client.service.repository(slug), ['hash-object', '-w', '--stdin'], bytes)

  // interface 6.14
  it('are those of git, at every surface, each with its bytes', async () => {
    for (const surface of testedSurfaces) {
      const own = new SurfaceClient(surface, () => client.service)
      const { slug, revisions } = await own.made(1, { slug: `filed_${surface.path}` })
      const { body } = await own.get(`/revisions/${revisions[0].id}/files`)
      const lines = own.git(slug, 'ls-tree', '-r', '-l', slug).split('\n')
      const expected = lines.map((line) => {
        const [, , oid = '', size, path = ''] = line.split(/\s+/)
        return { path, size: Number(size), oid }
      })
      expect(body, surface.path).to.deep.equal({ count: expected.length, files: expected })
      for (const { path, oid } of expected) {
        const file = await own.get(`/revisions/${revisions[0].id}/files/${path}`)
        expect(file.text).to.equal(gitBytes(own.repository(slug), ['cat-file', 'blob', oid]).toString())
        expect(file.headers.get('content-type')).to.equal('text/plain; charset=utf-8')
        expect(file.headers.get('x-content-type-options')).to.equal('nosniff')
        expect(file.headers.get('etag')).to.equal(`"${oid}"`)
      }
    }
  })

  it('page in git’s order, without a gap, a thousand at most', async () => {
    const { slug } = await client.application(1)
    const one = blob(slug, 'x')
    const names = Array.from({ length: 1100 }, (_, n) => `100644 blob ${one}\tf${n}.txt`)
    const inner = git(client.service.repository(slug), ['mktree'], `${names.slice(0, 3).join('\n')}\n`)
    const id = pushed(slug, [...names, `040000 tree ${inner}\tf1`, `040000 tree ${inner}\tzz`])
    const all = client.gitOf(slug, 'ls-tree', '-r', '--name-only', slug).split('\n')
    const found: string[] = []
    let next: string | undefined
    do {
      const query = new URLSearchParams({ limit: '7', ...(next === undefined ? {} : { next }) })
      const { body } = await list(id, `?${query}`)
      found.push(...body.files.map(({ path }: { path: string }) => path))
      next = body.windowing?.next
    } while (next !== undefined)
    expect(found).to.deep.equal(all)
    const { body } = await list(id)
    expect(body.count).to.equal(1000)
    expect(body.windowing).to.deep.equal({ next: all[999] })
  })

  // interface 6.14
  it('are bytes for a download where they are no text, and never what a browser would run', async () => {
    const { slug } = await client.application(1)
    const bytes = Buffer.from(Array.from({ length: 200_000 }, (_, n) => (n * 7) % 256))
    const page = blob(slug, '<script>alert(1)</script>')
    const id = pushed(slug, [
      `100644 blob ${blob(slug, bytes)}\tä'b.html`,
      `100644 blob ${page}\tindex.html`,
      `100644 blob ${blob(slug, 'a\0b')}\tnul`,
      `100644 blob ${blob(slug, '')}\tempty`,
    ])
    const headers = { authorization: `ApiKey ${ADMIN_KEY}` }
    const odd = await fetch(`${client.service.url}${base(id)}/${encodeURIComponent("ä'b.html")}`, { headers })
    expect(Buffer.from(await odd.arrayBuffer()).equals(bytes)).to.equal(true)
    expect(odd.headers.get('content-type')).to.equal('application/octet-stream')
    expect(odd.headers.get('content-disposition')).to.equal("attachment; filename*=UTF-8''%C3%A4%27b.html")
    expect(odd.headers.get('content-length')).to.equal('200000')
    const shown = await client.service.get(`${base(id)}/index.html`)
    expect(shown.headers.get('content-type')).to.equal('text/plain; charset=utf-8')
    expect(shown.headers.get('content-disposition')).to.equal(null)
    expect((await client.service.get(`${base(id)}/nul`)).headers.get('content-type')).to.equal(
      'application/octet-stream',
    )
    expect((await client.service.get(`${base(id)}/empty`)).text).to.equal('')
    const again = await client.service.get(`${base(id)}/index.html`, { 'if-none-match': `"${page}"` })
    expect([again.status, again.text]).to.deep.equal([304, ''])
  })

  it('lead nowhere out of the tree: a link is its text, a submodule is refused by name', async () => {
    const { slug } = await client.application(1)
    const inner = git(
      client.service.repository(slug),
      ['mktree'],
      `100644 blob ${blob(slug, 'deep')}\tnote.txt\n`,
    )
    const id = pushed(slug, [
      `120000 blob ${blob(slug, '../../../../etc/passwd')}\tlink`,
      `160000 commit ${createHash('sha1').update('x').digest('hex')}\tmodule`,
      `040000 tree ${inner}\tprompts`,
      `100644 blob ${blob(slug, '{}')}\tdata.json`,
    ])
    const { body } = await list(id)
    expect(body.files.map(({ path }: { path: string }) => path)).to.deep.equal([
      'data.json',
      'link',
      'prompts/note.txt',
    ])
    expect((await client.service.get(`${base(id)}/link`)).text).to.equal('../../../../etc/passwd')
    const refused = async (path: string, ...words: readonly string[]) =>
      expectRefusal(await client.service.get(`${base(id)}/${path}`), 404, 'file_not_found', ...words)
    await refused('module', '"module" is a submodule')
    await refused('module/x', '"module" is a submodule')
    await refused('link/passwd', 'link/passwd')
    await refused('prompts', 'a folder')
    await refused('dta.json', 'Did you mean "data.json"?')
    await refused('prompts/nte.txt', 'Did you mean "prompts/note.txt"?')
    await refused('prompts/entirely/else', 'the folder "prompts"')
    await refused('quite-other', 'Its root has data.json, link, module, prompts.')
    for (const path of [
      '..%2Fdata.json',
      'prompts%2F..%2Fdata.json',
      'prompts%2F%2Fnote.txt',
      '.%2Fdata.json',
    ])
      expectRefusal(await client.service.get(`${base(id)}/${path}`), 422, 'invalid_request', 'path.path')
    const raw = `GET ${base(id)}/prompts/../data.json HTTP/1.1\r\nHost: x\r\nAuthorization: ApiKey ${ADMIN_KEY}\r\nConnection: close\r\n\r\n`
    expect(await rawRequest(client.service.url, raw)).to.match(/^HTTP\/1.1 422/)
  })

  it('are refused where a tree unfolds to folders without an end', async () => {
    const { slug } = await client.application(1)
    const repository = client.service.repository(slug)
    let tree = git(repository, ['mktree'], '')
    for (let level = 0; level < 40; level++)
      tree = git(repository, ['mktree'], `040000 tree ${tree}\ta\n040000 tree ${tree}\tb\n`)
    const id = pushed(slug, [`040000 tree ${tree}\tbomb`, `100644 blob ${blob(slug, '{}')}\tdata.json`])
    const reply = await client.service.get(base(id))
    expectRefusal(reply, 503, 'damaged_repository', 'more folders without files')
    expect((await client.service.get(`${base(id)}/data.json`)).text).to.equal('{}')
  })

  it('are refused by the field that is wrong', async () => {
    const { revisions } = await client.application(1)
    const { id } = revisions[0]
    for (const [query, ...words] of [
      ['?limit=1001', 'windowing.limit', 'at most 1000'],
      ['?limit=0', 'windowing.limit'],
      ['?limit=x', 'query.limit'],
      ['?next=nothing.json', 'query.next', 'previous answer'],
      ['?next=data.json/more', 'query.next'],
    ])
      expectRefusal(await client.service.get(base(id) + query), 422, 'invalid_request', ...words)
    expectRefusal(await client.service.get(`${base(id)}?order=ascending`), 422, 'unknown_field', 'order')
    const nobody = '01a1fbb1-f5c2-86ee-83de-4bacd1c878f6'
    expectRefusal(await client.service.get(base(nobody)), 404, 'revision_not_found', nobody)
    expectRefusal(await client.service.get(`${base(nobody)}/data.json`), 404, 'revision_not_found', nobody)
    const headers = await client.keyOf('invoke')
    expectRefusal(await client.service.get(base(id), headers), 403, 'missing_scope', 'read')
  })
})
