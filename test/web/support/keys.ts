import { expect } from 'chai'
import type { Locator, Page } from 'playwright-core'

/** What somebody without a mouse does. */
export interface Keys {
  /** Moves on with Tab until this has the focus. */
  tabTo(target: Locator): Promise<void>
  /** Moves on to it with Tab, and presses a key there: Enter, if no other is named. */
  press(target: Locator, key?: string): Promise<void>
  /** Moves on to it with Tab, and types this in the place of what it has. */
  type(target: Locator, text: string): Promise<void>
  /** Waits until this has the focus. */
  expectFocus(target: Locator): Promise<void>
  /** Fails if the page was clicked. */
  expectNoMouse(): Promise<void>
}

/** A focus that goes through a page this often without coming to something never does. */
const MOST_TABS = 600

export async function keysOf(page: Page): Promise<Keys> {
  const clicks: string[] = []
  await page.exposeFunction('clicked', (what: string) => clicks.push(what))
  await page.addInitScript(
    `addEventListener('pointerdown', ({ target }) => clicked(target.outerHTML.slice(0, 100)), true)`,
  )
  await page.reload()
  const tabTo = async (target: Locator): Promise<void> => {
    await target.waitFor()
    const name = target.toString()
    for (let tabs = 0; tabs < MOST_TABS; tabs++) {
      await page.keyboard.press('Tab')
      if (await target.evaluate((it) => it === it.ownerDocument.activeElement)) return
    }
    throw new Error(`Tab does not come to ${name}`)
  }
  return {
    tabTo,
    expectFocus: async (target) => {
      const isFocused = () => target.evaluate((it) => it === it.ownerDocument.activeElement)
      while (!(await isFocused())) await page.waitForTimeout(20)
    },
    press: async (target, key = 'Enter') => {
      await tabTo(target)
      await page.keyboard.press(key)
    },
    type: async (target, text) => {
      await tabTo(target)
      await page.keyboard.press('Control+a')
      await page.keyboard.type(text)
    },
    expectNoMouse: async () => void expect(clicks).to.deep.equal([]),
  }
}
