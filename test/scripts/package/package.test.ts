import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, normalize } from 'node:path'
import { expect } from 'chai'
import { makeEmptyStore } from '../../cli/empty-store.ts'
import { type ChildServer, startChild } from '../../support/servers/child-server.ts'
import { xlsxFile } from '../../support/values/xlsx-file.ts'
import { type PackedRecord, installedPackages, npmPack, unpack } from './packed.ts'

const MIB = 1024 ** 2

describe('the packed package', () => {
  let folder: string
  let record: PackedRecord
  let paths: readonly string[]
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'branchpoint-pack-'))
    record = await npmPack('pack', '--pack-destination', folder)
    paths = record.files.map(({ path }) => path)
  })
  after(() => rmSync(folder, { recursive: true, force: true }))

  it('holds what runs and what people read: no sources, no maps, no tests, nothing twice', () => {
    expect(record.filename).to.match(/^branchpoint-server-\d/)
    const tops = new Set(paths.map((path) => path.split('/').slice(0, 2).join('/')))
    expect([...tops].sort()).to.deep.equal(
      [
        ...['CHANGELOG.md', 'LICENSE', 'README.md', 'SECURITY.md', 'THIRD_PARTY_NOTICES', 'package.json'],
        ...[
          'deploy/branchpoint.service',
          'dist/docs',
          'dist/server',
          'dist/src',
          'dist/swagger-ui',
          'dist/web',
        ],
        ...['api', 'configuration', 'format', 'handlers', 'in-memory', 'interface'].map(
          (it) => `docs/${it}.md`,
        ),
        ...['docs/guide', 'docs/img', 'docs/operations', 'docs/pictures', 'sbom.cdx.json'],
      ].sort(),
    )
    expect(paths.filter((path) => /\.(?:ts|tsx|map|test\.js)$|\/\.[^/]*$/.test(path))).to.deep.equal([])
    // The bundle has the modules of src; a file of its own has what the bundle does not: what starts it, a browser's, the sandbox's.
    const own = paths.filter((path) => path.startsWith('dist/src/')).map((path) => path.slice(9))
    const sandbox = own.filter((path) => path.startsWith('run/sandbox/inside/'))
    expect(own.filter((path) => !sandbox.includes(path)).sort()).to.deep.equal(
      ['cli/main.js', 'http/docs/request-text.js', 'http/docs/start-viewer.js', 'main.js'].sort(),
    )
    expect(sandbox).to.have.lengthOf(readdirSync('src/run/sandbox/inside').length)
  })

  it('has every file that the bundle looks for beside a module', () => {
    const bundle = ['dist/src/main.js', ...paths.filter((path) => /^dist\/server\/.*\.js$/.test(path))]
    const beside =
      /new URL\((["'`])(\.[^"'`]+)\1,\s*new URL\((["'`])(\.\.\/src\/[^"'`]+)\3,\s*import\.meta\.url\)/g
    const found = bundle.flatMap((path) =>
      [...readFileSync(path, 'utf8').matchAll(beside)].map(([, , name = '', , module = '']) =>
        normalize(join(dirname(path), dirname(module), name)),
      ),
    )
    expect(found).to.include('dist/src/run/sandbox/inside/main.js')
    const missing = found.filter((path) => !paths.some((it) => it === path || it.startsWith(path)))
    // `branchpoint` is a script of a checkout: by it the program knows that it is not installed (src/command-name.ts).
    expect(missing.filter((path) => !['branchpoint', 'dist/web'].includes(path))).to.deep.equal([])
    expect(paths).to.include('dist/web/index.html')
  })

  it('has the guide, and whatever the guide links to', () => {
    const pages = paths.filter((path) => /^docs\/guide\/.*\.md$/.test(path))
    expect(pages).to.have.lengthOf(readdirSync('docs/guide').filter((name) => name.endsWith('.md')).length)
    const links = pages.flatMap((page) =>
      [...readFileSync(page, 'utf8').matchAll(/\]\(([^)#\s]+)[^)]*\)/g)]
        .map(([, link = '']) => link)
        .filter((link) => !/^(?:https?:|\/)/.test(link))
        .map((link) => normalize(join(dirname(page), link))),
    )
    expect(links).to.include('docs/guide/testsets.md')
    expect(links.filter((link) => !paths.includes(link))).to.deep.equal([])
  })

  it('takes 4 MiB, and 160 MiB with the packages that npm installs beside it', () => {
    expect(record.size).to.be.lessThan(4 * MIB)
    const bytes = installedPackages()
      .filter((it) => existsSync(it))
      .map(sizeOf)
      .reduce((a, b) => a + b, 0)
    expect(bytes).to.be.greaterThan(20 * MIB)
    expect(record.unpackedSize + bytes).to.be.lessThan(160 * MIB)
  })

  it('is as npm publishes it, with provenance, for everybody', async () => {
    // Nobody listens there, and a dry run does not need them.
    const nobody = ['--registry', 'http://127.0.0.1:9/', '--fetch-retries', '0']
    const { name, version, files } = await npmPack('publish', '--dry-run', ...nobody)
    expect({ name, version }).to.deep.equal({ name: record.name, version: record.version })
    expect(files.map(({ path }) => path)).to.deep.equal(paths)
    const it = JSON.parse(readFileSync('package.json', 'utf8'))
    // Those that read files of their own; whatever else src imports is in the bundle (decision 50).
    expect(Object.keys(it.dependencies)).to.deep.equal([
      '@swc/wasm-typescript',
      'libsql',
      'pyodide',
      'quickjs-emscripten',
      'tinypool',
    ])
    expect(it).to.not.have.property('private')
    expect(it.publishConfig).to.deep.equal({ access: 'public', provenance: true })
    expect(it.exports).to.deep.equal({ './package.json': './package.json' })
    const address = 'https://github.com/branchpoint/branchpoint'
    expect([it.repository.url, it.homepage, it.bugs]).to.deep.equal([
      `git+${address}.git`,
      `${address}#readme`,
      `${address}/issues`,
    ])
    expect(it.keywords).to.include.members(['prompt', 'llm', 'git'])
    expect(it.license).to.equal('MIT')
    // npx runs the command that is called like the package.
    expect(it.bin[it.name]).to.equal(it.bin.branchpoint)
  })

  describe('with the packages that npm installs, and no others', () => {
    let root: string
    let server: ChildServer | undefined
    before(async () => {
      root = await unpack(join(folder, record.filename), folder)
    })
    after(() => server?.stop())

    it('runs its commands from any folder', async () => {
      const branchpoint = (...args: readonly string[]): string =>
        execFileSync(process.execPath, [join(root, 'dist/src/cli/main.js'), ...args], {
          cwd: folder,
          stdio: 'pipe',
          encoding: 'utf8',
        })
      expect(branchpoint('--help')).to.match(/^ {2}keys /m)
      expect(branchpoint('verify', '--help')).to.contain('--repair')
      await makeEmptyStore(join(folder, 'store'))
      expect(branchpoint('keys', 'create', '--name', 'me', '--scopes', 'read')).to.match(/^svc_/)
      expect(branchpoint('keys', 'list')).to.match(/me@branchpoint\.local +read/)
      expect(branchpoint('verify', '--second-reader')).to.match(/^0 repositories/m)
      expect(readdirSync(folder).sort()).to.deep.equal([record.filename, 'package', 'store'].sort())
      // Nothing is called damaged where there is no git to read it with.
      const { status, stdout, stderr } = spawnSync(
        process.execPath,
        [join(root, 'dist/src/cli/main.js'), 'verify'],
        {
          cwd: folder,
          env: { PATH: folder },
          encoding: 'utf8',
        },
      )
      expect([status, stdout]).to.deep.equal([1, ''])
      expect(stderr).to.match(/^The git program cannot be run: .*\. Install git\.\n$/)
    })

    it('serves: the page, the documents, prompts, scripts in each language, Excel files', async () => {
      server = await startChild(
        join(root, 'dist/src/main.js'),
        { PORT: '0', STORE_DIR: join(folder, 'served'), SVC_API_KEY: 'key' },
        (text) => /"url":"([^"]+)"/.exec(text)?.[1],
      )
      const { url } = server
      for (const path of ['/', '/docs', '/docs/start-viewer.js', '/docs/request-text.js', '/openapi.json'])
        expect((await fetch(url + path, { headers: { accept: 'text/html' } })).status, path).to.equal(200)
      const post = async (path: string, body: unknown, type = 'application/json'): Promise<any> => {
        const answer = await fetch(url + path, {
          method: 'POST',
          headers: { authorization: 'ApiKey key', 'content-type': type },
          body: Buffer.isBuffer(body) ? new Uint8Array(body) : JSON.stringify(body),
        })
        const text = await answer.text()
        expect(answer.status, `${path}: ${text}`).to.equal(200)
        return JSON.parse(text)
      }
      const schema = { $schema: 'http://json-schema.org/draft-06/schema#', type: 'object' }
      for (const [runtime, script] of [
        ['javascript', 'function evaluate() { return 6 }'],
        ['typescript', 'function evaluate(): number { return 6 }'],
        ['python', 'def evaluate(*_): return 6'],
      ]) {
        const data = {
          uri: 'svc:custom:code:v0',
          runtime,
          script,
          schemas: { inputs: schema },
        }
        await post('/simple/applications/', { application: { slug: runtime, data } })
        const run = { references: { application: { slug: runtime } }, data: { inputs: {} } }
        expect((await post('/services/invoke', run)).data.outputs, runtime).to.equal(6)
      }
      const revision = { application_ref: { slug: 'python' } }
      expect((await post('/applications/revisions/retrieve', revision)).count).to.equal(1)
      const bytes = xlsxFile({
        sheets: [['Cities', '<row r="1"><c r="A1" t="inlineStr"><is><t>city</t></is></c></row>']],
      })
      const excel = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'
      await post('/simple/testsets/upload?testset_slug=cities', bytes, excel)
    })
  })
})

function sizeOf(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0)
}
