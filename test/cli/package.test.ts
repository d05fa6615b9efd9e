import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect } from 'chai'
import { makeEmptyStore } from './empty-store.ts'

describe('the packed package', () => {
  let folder: string
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'branchpoint-pack-'))))
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  it('holds the built source and no tests, and its branchpoint runs from any folder', async () => {
    // Nothing is built again while tests run from what is built.
    execFileSync('npm', ['pack', '--ignore-scripts', '--pack-destination', folder], { stdio: 'pipe' })
    const [tarball = ''] = readdirSync(folder)
    execFileSync('tar', ['xzf', tarball], { cwd: folder })
    expect(tarball).to.match(/^branchpoint-server-/)
    const root = join(folder, 'package')
    expect(readdirSync(root).sort()).to.deep.equal(
      ['LICENSE', 'README.md', 'dist', 'package.json', 'scripts'].sort(),
    )
    expect(readdirSync(join(root, 'dist'))).to.deep.equal(['server', 'src', 'swagger-ui', 'web'])
    expect(readdirSync(join(root, 'scripts'))).to.deep.equal(['build.mjs'])
    // What npm install would bring.
    symlinkSync(resolve('node_modules'), join(root, 'node_modules'))
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
    expect(readdirSync(folder).sort()).to.deep.equal([tarball, 'package', 'store'].sort())
  })
})
