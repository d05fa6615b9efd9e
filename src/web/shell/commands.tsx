import { createContext, type ReactNode, useContext, useEffect, useMemo, useRef, useState } from 'react'

/** An action with a key, also in the palette. */
export interface Command {
  readonly id: string
  readonly title: string
  /** As pressed: `c`, `g h`, `mod+k`. */
  readonly keys?: string
  /** Whether its key works only where the focus is: a part of the page handles it. */
  readonly isLocal?: boolean
  /** The heading in the list of keys. */
  readonly group?: string
  /** Why it is disabled. */
  readonly refusal?: string | undefined
  readonly run: () => void
}

class Registry {
  readonly #sets = new Map<symbol, { readonly commands: readonly Command[]; readonly isInDialog: boolean }>()

  /** Adds commands; returns a function that removes them. */
  add(commands: readonly Command[], isInDialog: boolean): () => void {
    const key = Symbol('commands')
    this.#sets.set(key, { commands, isInDialog })
    return () => this.#sets.delete(key)
  }

  /** The last added come first: a page's keys override the frame's. */
  all(): readonly Command[] {
    return this.#firstOfEach(() => true)
  }

  /** The commands of dialogs. */
  inDialogs(): readonly Command[] {
    return this.#firstOfEach(({ isInDialog }) => isInDialog)
  }

  #firstOfEach(isWanted: (set: { readonly isInDialog: boolean }) => boolean): readonly Command[] {
    const seen = new Set<string>()
    return [...this.#sets.values()]
      .filter(isWanted)
      .reverse()
      .flatMap(({ commands }) => commands)
      .filter(({ id }) => !seen.has(id) && seen.add(id))
  }
}

const RegistryContext = createContext<Registry | undefined>(undefined)

/** Whether the content is in a dialog: while one is open, only the commands of dialogs have keys. */
export const DialogContext = createContext(false)

/** Handles keys, and collects the commands of the shown components. */
export function Commands({ children }: { readonly children: ReactNode }) {
  const [registry] = useState(() => new Registry())
  useEffect(() => {
    let first = ''
    let until = 0
    function onKey(event: KeyboardEvent): void {
      const pressed = nameOf(event)
      if (pressed === undefined || (isTyping(event) && !pressed.startsWith('mod+'))) return
      // The escape that closed a dialog is not the page's, too.
      if (pressed === 'escape' && event.defaultPrevented) return
      // These two act on what is shown, so that in a dialog they are the dialog's.
      const isEverywhere = pressed.startsWith('mod+') && !/^mod\+(?:enter|s)$/.test(pressed)
      if (document.querySelector('[role=menu]') && !isEverywhere) return
      const isBehind = document.querySelector('[role=dialog]') !== null && !isEverywhere
      const sequence = first !== '' && event.timeStamp < until ? `${first} ${pressed}` : pressed
      const given = isBehind ? registry.inDialogs() : registry.all()
      const known = given.filter(({ keys, isLocal }) => keys !== undefined && !isLocal)
      const command =
        known.find(({ keys }) => keys === sequence) ?? known.find(({ keys }) => keys === pressed)
      first = known.some(({ keys }) => keys?.startsWith(`${pressed} `)) ? pressed : ''
      until = event.timeStamp + 1500
      // The browser's own dialog for saving would be no answer to a refused command.
      if (pressed === 'mod+s') event.preventDefault()
      if (!command || command.refusal !== undefined) return
      event.preventDefault()
      first = ''
      command.run()
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [registry])
  return <RegistryContext value={registry}>{children}</RegistryContext>
}

/** Registers commands while the component is shown. */
export function useCommands(commands: readonly Command[]): void {
  const registry = useRegistry()
  const isInDialog = useContext(DialogContext)
  const current = useRef(commands)
  current.current = commands
  const shape = commands
    .map(({ id, title, keys, refusal }) => [id, title, keys, refusal].join(' '))
    .join('\n')
  const live = useMemo(
    () => current.current.map((it, at) => ({ ...it, run: () => current.current[at]?.run() })),
    // Commands with the same texts are not registered again; they always run the newest function.
    [shape],
  )
  useEffect(() => registry.add(live, isInDialog), [registry, live, isInDialog])
}

/** All current commands. */
export function useAllCommands(): readonly Command[] {
  return useRegistry().all()
}

function useRegistry(): Registry {
  const registry = useContext(RegistryContext)
  if (!registry) throw new Error('commands are used outside of Commands')
  return registry
}

function nameOf(event: KeyboardEvent): string | undefined {
  if (event.altKey || event.key === 'Shift' || event.key === 'Control' || event.key === 'Meta')
    return undefined
  const key = event.key === ' ' ? 'space' : event.key.length === 1 ? event.key : event.key.toLowerCase()
  return event.ctrlKey || event.metaKey ? `mod+${key.toLowerCase()}` : key
}

/** Whether a key is text input, or belongs to the focused element (space and enter press a button or follow a link). */
function isTyping({ target, key }: KeyboardEvent): boolean {
  if (!(target instanceof HTMLElement)) return false
  const isChecked = target instanceof HTMLInputElement && /^(?:checkbox|radio)$/.test(target.type)
  if (target.isContentEditable || (/^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName) && !isChecked))
    return true
  return /^(?:Enter| )$/.test(key) && /^(?:BUTTON|A|SUMMARY|INPUT)$/.test(target.tagName)
}

/** `mod+k` as this machine's users write it. */
export function shownKeys(keys: string): string {
  const mod = navigator.platform.startsWith('Mac') ? '⌘' : 'Ctrl+'
  return keys
    .replace(/mod\+(\w)$/, (_, key: string) => `mod+${key.toUpperCase()}`)
    .replace('mod+', mod)
    .replace(/\bspace\b/, 'Space')
    .replace(/\benter\b/, 'Enter')
}
