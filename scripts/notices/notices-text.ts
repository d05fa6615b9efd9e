import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { BundledPackage } from './bundled-packages.ts'

const RULE = '-'.repeat(80)

/** The text of THIRD_PARTY_NOTICES. Throws if there is no licence text for a package. */
export function noticesText(packages: readonly BundledPackage[]): string {
  const byText = new Map<string, BundledPackage[]>()
  for (const it of packages) {
    const text = licenceText(it, packages)
    byText.set(text, [...(byText.get(text) ?? []), it])
  }
  const blocks = [...byText].map(([text, them]) => [RULE, ...them.map(heading), '', text].join('\n'))
  return `Branchpoint contains code of the ${packages.length} packages below, each under its own licence.
Packages that npm installs beside it, in node_modules, bring their licences themselves.

${blocks.join('\n\n')}
`
}

/** `react 19.3.1 (MIT), in dist/web, https://…` */
function heading({ name, version, licence, bundles, homepage }: BundledPackage): string {
  const places = bundles.map((bundle) => `dist/${bundle}`).join(' and ')
  return [`${name} ${version} (${licence}), in ${places}`, ...(homepage ? [homepage] : [])].join(', ')
}

/** The licence files of a package; if it has none, the text of the licence that its package.json names. */
function licenceText(it: BundledPackage, all: readonly BundledPackage[]): string {
  return ownText(it) ?? standardText(it, all)
}

function ownText({ folder, modules }: BundledPackage): string | undefined {
  const names = readdirSync(folder).filter((name) => LICENCE_FILE.test(name))
  if (!names.some((name) => !/^notice/i.test(name))) return undefined
  const files = names.map((name) => join(folder, name))
  // A file that was bundled from others has their licences beside it.
  const beside = modules.map((module) => `${module}.LICENSE.txt`).filter((path) => existsSync(path))
  return [...files, ...beside].map(readText).join('\n\n')
}

const LICENCE_FILE = /^(?:licen[sc]e|copying|notice)(?:[.-][\w.-]+)?$/i

function readText(path: string): string {
  return readFileSync(path, 'utf8')
    .replace(/^\uFEFF/, '')
    .replaceAll('\r\n', '\n')
    .replace(/[ \t]+$/gm, '')
    .trim()
}

function standardText({ name, licence, author }: BundledPackage, all: readonly BundledPackage[]): string {
  const holder = author ?? `the authors of ${name}`
  // Branchpoint's own licence is MIT.
  if (licence === 'MIT')
    return readText('LICENSE').replace(/^Copyright .*$/m, () => `Copyright (c) ${holder}`)
  const other = licence === 'Apache-2.0' ? all.map(apacheText).find((text) => text !== undefined) : undefined
  if (other === undefined)
    throw new Error(`${name} is in a bundle without a licence file, and there is no text of ${licence}.`)
  return `Copyright ${holder}\n\n${other}`
}

function apacheText(it: BundledPackage): string | undefined {
  const text = it.licence === 'Apache-2.0' ? ownText(it) : undefined
  return text?.includes('TERMS AND CONDITIONS FOR USE, REPRODUCTION, AND DISTRIBUTION') ? text : undefined
}
