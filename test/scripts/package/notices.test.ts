import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { expect } from 'chai'
import { bundledPackages } from '../../../scripts/notices/bundled-packages.ts'
import { noticesText } from '../../../scripts/notices/notices-text.ts'
import { installedPackages } from './packed.ts'

interface Component {
  readonly name: string
  readonly version: string
  readonly properties?: readonly { readonly name: string; readonly value: string }[]
}

describe('the notices', () => {
  const notices = readFileSync('THIRD_PARTY_NOTICES', 'utf8')
  const packages = bundledPackages()
  const folders = packages.map(({ folder }) => folder)

  it('are what the build makes of the lists of modules', () => {
    expect(notices === noticesText(packages)).to.equal(true)
  })

  it('name each package of the server whose modules the source maps of the bundle name', () => {
    const maps = ['dist/src/main.js.map', 'dist/src/cli/main.js.map'].concat(
      readdirSync('dist/server')
        .filter((name) => name.endsWith('.js.map'))
        .map((name) => join('dist/server', name)),
    )
    const inMaps = new Set(maps.flatMap((map) => sourcesOf(map).flatMap(packageOf)))
    expect(inMaps).to.include.keys(['node_modules/koa', 'node_modules/zod', 'node_modules/isomorphic-git'])
    expect([...inMaps].filter((folder) => !folders.includes(folder))).to.deep.equal([])
  })

  it('name each package that a module of the page imports, and the licence of each', () => {
    const modules = readdirSync('src/web', { recursive: true, encoding: 'utf8' })
      .map((name) => join('src/web', name))
      .filter((path) => /\.tsx?$/.test(path) && statSync(path).isFile() && !path.endsWith('vite.config.ts'))
    const imported = new Set(modules.flatMap((path) => packagesIn(readFileSync(path, 'utf8'))))
    expect(imported).to.include.keys(['react', 'radix-ui', '@codemirror/view'])
    // radix-ui passes on the modules of other packages; of types nothing is left.
    const left = [...imported].filter((name) => !['radix-ui', 'mdast'].includes(name))
    const web = packages.filter(({ bundles }) => bundles.includes('web'))
    expect(left.filter((name) => !web.some((it) => it.name === name))).to.deep.equal([])
    expect(web.map(({ name }) => name)).to.include.members(['@radix-ui/react-dialog', 'react-dom'])
    for (const { name, version, licence } of packages)
      expect(notices, name).to.include(`\n${name} ${version} (${licence}), in dist/`)
    expect(notices).to.include('Copyright (c) Meta Platforms, Inc. and affiliates.')
  })

  it('stand beside a bill of what npm installs and what is bundled, in CycloneDX', () => {
    const bill = JSON.parse(readFileSync('sbom.cdx.json', 'utf8'))
    expect([bill.bomFormat, bill.metadata.component.name]).to.deep.equal(['CycloneDX', 'branchpoint-server'])
    const components = bill.components as readonly Component[]
    const bundles = ({ properties = [] }: Component): readonly string[] =>
      properties.filter(({ name }) => name === 'branchpoint:bundle').map(({ value }) => value)
    const bundled = components.filter((it) => bundles(it).length > 0)
    const named = (them: readonly { readonly name: string; readonly version: string }[]): readonly string[] =>
      [...new Set(them.map(({ name, version }) => `${name}@${version}`))].sort()
    expect(named(bundled)).to.deep.equal(named(packages))
    const others = components.filter((it) => bundles(it).length === 0).map(({ name }) => name)
    expect(others.sort()).to.deep.equal(installedPackages().map(nameOf).sort())
    expect(components.filter(({ name }) => name.startsWith('@scarf/'))).to.deep.equal([])
  })
})

function sourcesOf(map: string): readonly string[] {
  if (!existsSync(map)) return []
  const { sources } = JSON.parse(readFileSync(map, 'utf8')) as { readonly sources: readonly string[] } // as the format has it
  return sources.map((source) => relative('.', join(dirname(map), source)))
}

function packageOf(path: string): readonly string[] {
  const found = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)
  return found ? [found[0]] : []
}

function packagesIn(text: string): readonly string[] {
  const imports = /^(?:import|export)\s(?!type\s)[^'"]*?from '([^'.#][^']*)'|^import '([^'.#][^']*)'/gm
  return [...text.matchAll(imports)].map(
    ([, from, alone]) => /^(?:@[^/]+\/)?[^/]+/.exec(from ?? alone ?? '')?.[0] ?? '',
  )
}

function nameOf(folder: string): string {
  return folder.slice(folder.lastIndexOf('node_modules/') + 'node_modules/'.length)
}
