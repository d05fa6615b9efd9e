import chromium from '@sparticuz/chromium'
import { type Browser, chromium as playwright } from 'playwright-core'

let browser: Promise<Browser> | undefined

/** The Chromium that npm installs, one a process; `closeBrowser` ends it. */
export function openBrowser(): Promise<Browser> {
  browser ??= launch()
  return browser
}

async function launch(): Promise<Browser> {
  return playwright.launch({
    executablePath: await chromium.executablePath(),
    // Of its own switches these are for a machine that runs one page: a window that is closed would end the browser.
    args: chromium.args.filter((switched) => !/^--(?:single-process|no-zygote)$/.test(switched)),
    headless: true,
  })
}

/** Ends the browser, if there is one. */
export async function closeBrowser(): Promise<void> {
  await (await browser)?.close()
  browser = undefined
}
