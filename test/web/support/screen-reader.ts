import type { CDPSession, Page } from 'playwright-core'

/** A thing of the page as the browser tells it to a screen reader. */
export interface Heard {
  readonly role: string
  readonly name: string
  readonly value: string
  readonly description: string
  /** `invalid`, `disabled`, `level`, `live` and others. */
  readonly states: Readonly<Record<string, unknown>>
  /** What identifies it while the page shows it. */
  readonly id: number
  /** What lies in it, in reading order. */
  readonly children: readonly Heard[]
}

/** What somebody waits for at most, in milliseconds. */
const PATIENCE = 30_000

/**
 * Somebody who has a page read out: the browser's tree of accessible things, and keys. Nothing is found by markup, by ids or by its place on the
 * screen.
 */
export class ScreenReader {
  readonly #page: Page
  readonly #session: CDPSession

  private constructor(page: Page, session: CDPSession) {
    this.#page = page
    this.#session = session
  }

  static async of(page: Page): Promise<ScreenReader> {
    const session = await page.context().newCDPSession(page)
    await session.send('Accessibility.enable')
    return new ScreenReader(page, session)
  }

  /** All of the page, in reading order. */
  async all(): Promise<readonly Heard[]> {
    const { nodes } = (await this.#session.send('Accessibility.getFullAXTree')) as {
      nodes: readonly AxNode[]
    }
    const byId = new Map(nodes.map((it) => [it.nodeId, it]))
    return nodes[0] === undefined ? [] : flat(heardOf(nodes[0], byId))
  }

  /** Goes on reading until there is something of this role and name. */
  async find(role: string, name: string | RegExp): Promise<Heard> {
    let all: readonly Heard[] = []
    for (const end = Date.now() + PATIENCE; Date.now() < end; await this.#page.waitForTimeout(50)) {
      all = await this.all()
      const found = all.find((it) => it.role === role && isNamed(it, name))
      if (found) return found
    }
    const others = all.filter((it) => it.role === role).map((it) => it.name)
    throw new Error(`no ${role} is called ${name}; there are: ${others.join(' | ')}`)
  }

  /** Goes on reading until this has this text. */
  async reads(role: string, name: string | RegExp, text: RegExp): Promise<void> {
    let read = ''
    for (const end = Date.now() + PATIENCE; Date.now() < end; await this.#page.waitForTimeout(50)) {
      read = textOf(await this.find(role, name))
      if (text.test(read)) return
    }
    throw new Error(`${role} ${name} does not read ${text}, but: ${read}`)
  }

  /** Waits until something of this role and name has the focus, which is when it is read out. */
  async arrives(role: string, name: string | RegExp): Promise<Heard> {
    let focused = await this.focused()
    for (const end = Date.now() + PATIENCE; Date.now() < end; focused = await this.focused()) {
      if (focused.role === role && isNamed(focused, name)) return focused
      await this.#page.waitForTimeout(50)
    }
    throw new Error(
      `the focus comes to no ${role} that is called ${name}, but to ${focused.role} ${focused.name}`,
    )
  }

  /** Moves on with Tab to something of this role and name. Answers what it passes, and that itself as the last. */
  async tabTo(role: string, name: string | RegExp): Promise<readonly Heard[]> {
    const passed: Heard[] = []
    for (const end = Date.now() + PATIENCE; Date.now() < end;) {
      await this.#page.keyboard.press('Tab')
      const focused = await this.focused()
      passed.push(focused)
      if (focused.role === role && isNamed(focused, name)) return passed
    }
    const names = passed.slice(0, 80).map((it) => `${it.role} ${it.name}`)
    throw new Error(`Tab does not come to a ${role} that is called ${name}, but to: ${names.join(' | ')}`)
  }

  /** What has the focus; in a grid or a list, what it says is the current one. */
  async focused(): Promise<Heard> {
    const active =
      '(() => { const it = document.activeElement; const id = it.getAttribute("aria-activedescendant"); return id && document.getElementById(id) || it })()'
    const { result } = await this.#session.send('Runtime.evaluate', { expression: active })
    const { nodes } = (await this.#session.send('Accessibility.getPartialAXTree', {
      objectId: result.objectId as string,
      fetchRelatives: false,
    })) as { nodes: readonly AxNode[] }
    const [node] = nodes
    if (node === undefined) throw new Error('what has the focus is not told to screen readers')
    return shallow(node)
  }

  /**
   * Does something and waits until the page announces these words: in an alert, or in a live region that was there before, because screen readers
   * do not notice one that comes with its words. A busy one is waited for.
   */
  async hears(words: string | RegExp, act: () => Promise<unknown>): Promise<void> {
    const before = new Map(liveIn(await this.all()).map((it) => [it.id, textOf(it)]))
    await act()
    const heard = new Set<string>()
    for (const end = Date.now() + PATIENCE; Date.now() < end; await this.#page.waitForTimeout(50)) {
      for (const it of liveIn(await this.all())) {
        const text = textOf(it)
        if (before.get(it.id) === text || it.states['busy'] === true) continue
        const isHeard = before.has(it.id) || it.role === 'alert'
        heard.add(isHeard ? text : `(comes with its region) ${text}`)
        if (isHeard && (typeof words === 'string' ? text.includes(words) : words.test(text))) return
      }
    }
    throw new Error(`nothing announces ${words}, but: ${[...heard].join(' | ')}`)
  }
}

function isNamed(it: Heard, name: string | RegExp): boolean {
  return typeof name === 'string' ? it.name === name : name.test(it.name)
}

function flat(list: readonly Heard[]): readonly Heard[] {
  return list.flatMap((it) => [it, ...flat(it.children)])
}

/** Live regions; not what lies in them, which says of itself that it is live, too. */
function liveIn(all: readonly Heard[]): readonly Heard[] {
  const isLive = (it: Heard): boolean => /polite|assertive/.test(String(it.states['live']))
  const inner = new Set(all.filter(isLive).flatMap((it) => flat(it.children)))
  return all.filter((it) => isLive(it) && (!inner.has(it) || it.role === 'alert' || it.role === 'status'))
}

/** What is read out of it, in order. */
function textOf(it: Heard): string {
  return flat([it])
    .filter(({ role }) => role === 'StaticText')
    .map(({ name }) => name)
    .join(' ')
    .replace(/\s+/g, ' ')
    .trim()
}

interface AxNode {
  readonly nodeId: string
  readonly ignored: boolean
  readonly role?: { readonly value?: string }
  readonly name?: { readonly value?: string }
  readonly value?: { readonly value?: unknown }
  readonly description?: { readonly value?: string }
  readonly properties?: readonly { readonly name: string; readonly value: { readonly value?: unknown } }[]
  readonly childIds?: readonly string[]
  readonly backendDOMNodeId?: number
}

/** Things that only group others are left out; what lies in them stands in their place. */
function heardOf(node: AxNode, byId: ReadonlyMap<string, AxNode>): readonly Heard[] {
  const children = (node.childIds ?? []).flatMap((id) => {
    const child = byId.get(id)
    return child === undefined ? [] : heardOf(child, byId)
  })
  const it = shallow(node)
  const isGroup = (it.role === 'generic' || it.role === 'none') && it.states['live'] === undefined
  return node.ignored || isGroup || it.role === 'InlineTextBox' ? children : [{ ...it, children }]
}

function shallow(node: AxNode): Heard {
  return {
    role: node.role?.value ?? '',
    name: node.name?.value ?? '',
    value: String(node.value?.value ?? ''),
    description: node.description?.value ?? '',
    states: Object.fromEntries((node.properties ?? []).map(({ name, value }) => [name, value.value])),
    id: node.backendDOMNodeId ?? 0,
    children: [],
  }
}
