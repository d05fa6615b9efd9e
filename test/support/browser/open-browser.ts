import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import chromium from '@sparticuz/chromium'
import { type Browser, chromium as playwright } from 'playwright-core'

let browser: Promise<Browser> | undefined

/** The Chromium that npm installs, one a process; `closeBrowser` ends it. */
export function openBrowser(): Promise<Browser> {
  browser ??= launch()
  return browser
}

/** Ends the browser, if there is one. */
export async function closeBrowser(): Promise<void> {
  await (await browser)?.close()
  browser = undefined
}

/** The package's own switches are for a machine that runs one page, and take away what browsers protect. */
const SWITCHES = ['--no-sandbox', '--font-render-hinting=none']

async function launch(): Promise<Browser> {
  return playwright.launch({ executablePath: await unpacked(), args: SWITCHES, headless: true })
}

/**
 * Where the program lies, which the package holds compressed. It is unpacked aside and moved into place whole: a program that another process
 * is still writing cannot be started.
 */
async function unpacked(): Promise<string> {
  const place = join(tmpdir(), `branchpoint-chromium-${versionOf('@sparticuz/chromium')}`)
  const program = join(place, 'chromium')
  if (existsSync(program)) return program
  const aside = mkdtempSync(`${place}-`)
  const before = process.env['TMPDIR']
  process.env['TMPDIR'] = aside // which the package asks where to write
  try {
    await chromium.executablePath()
  } finally {
    if (before === undefined) delete process.env['TMPDIR']
    else process.env['TMPDIR'] = before
  }
  try {
    renameSync(aside, place)
  } catch (error) {
    rmSync(aside, { recursive: true, force: true })
    // Another process was first.
    if (!existsSync(program)) throw error
  }
  return program
}

function versionOf(name: string): string {
  const entry = createRequire(import.meta.url).resolve(name)
  const root = entry.slice(0, entry.lastIndexOf(name) + name.length)
  const record: unknown = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  return (record as { readonly version: string }).version // npm lets no package be without one
}
