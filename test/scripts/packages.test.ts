import { readFileSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'

interface Lock {
  readonly packages: Readonly<Record<string, LockedPackage>>
}

interface LockedPackage {
  readonly dev?: boolean
  readonly hasInstallScript?: boolean
  readonly optional?: boolean
  readonly os?: readonly string[]
  readonly cpu?: readonly string[]
}

describe('packages', () => {
  it('brings no package with an install script into an installation', () => {
    const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as Lock // as npm writes it
    const scripted = Object.entries(packages).filter(
      ([, { dev, hasInstallScript }]) => hasInstallScript && !dev,
    )
    expect(scripted.map(([path]) => path)).to.deep.equal([])
    // The lock file does have the mark: a package for tests has an install script.
    expect(Object.values(packages).some(({ hasInstallScript }) => hasInstallScript)).to.equal(true)
  })

  it('brings native code for each C library of Linux, glibc and musl', () => {
    const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as Lock // as npm writes it
    for (const cpu of ['x64', 'arm64'])
      for (const library of ['gnu', 'musl']) {
        const name = `node_modules/@libsql/linux-${cpu}-${library}`
        expect(packages[name], name).to.deep.include({ os: ['linux'], cpu: [cpu], optional: true })
        expect(packages[name], name).to.not.have.property('dev')
      }
  })

  it('installs packages without their scripts, in the container and in CI', () => {
    for (const path of ['deploy/Dockerfile', '.ci/run']) {
      const installs = readFileSync(path, 'utf8').match(/npm (?:ci|prune|install)\b.*?(?=&&|\n|$)/g) ?? []
      expect(installs, path).to.not.have.length(0)
      for (const command of installs) expect(command, path).to.include('--ignore-scripts')
    }
  })

  it('names the command as it is called, and never a package of npm that is not ours', () => {
    // On npm, "branchpoint" is the package of somebody else (decision 39).
    const byName = /\b(?:npx|npm (?:i|install|exec))\s+(?:-\S+\s+)*branchpoint(?![-\w/.])/
    for (const runner of ['npx', 'npx --no', 'npm install', 'npm i -g', 'npm exec --'])
      expect(byName.test(`${runner} branchpoint open`), runner).to.equal(true)
    const files = ['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md']
      .concat(['.ci', 'deploy', 'docs', 'scripts', 'src', 'test'].flatMap(textFiles))
      .filter((path) => byName.test(readFileSync(path, 'utf8')))
    expect(files).to.deep.equal([])
  })
})

function textFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter(
      (path) =>
        statSync(path).isFile() && /\.(?:md|ts|tsx|mjs|sh|yaml|cfg)$|(?:^|\/)(?:run|Dockerfile)$/.test(path),
    )
}
