import { Plus } from 'lucide-react'
import { memo, useEffect, useId, useRef, useState } from 'react'
import { Button } from '../../parts/button/button.tsx'
import { Waiting } from '../../parts/editor/editor.tsx'
import { lengthAt, stringAt } from '../../parts/json-text/json-text.ts'
import styles from './edit.module.css'
import { addMessage, moveMessage } from './draft/editing.ts'
import { type MessagesProps, OneMessage } from './one-message.tsx'

/** So many messages have their editors from the start; each of the others gets its own when it comes near to what is seen. */
const FIRST = 20

/** The messages of a prompt, in their order. */
export function Messages(props: MessagesProps) {
  const { editing, edit, path, readOnly } = props
  const list = useId()
  const [movedTo, setMovedTo] = useState<string>()
  const count = lengthAt(editing.text, path) ?? 0
  const { observe, near } = useNear()

  // A message that is moved takes the focus of its button along.
  useEffect(() => {
    if (movedTo === undefined) return
    document.getElementById(movedTo)?.focus()
    setMovedTo(undefined)
  }, [movedTo])

  return (
    <section aria-label="Messages">
      <ol className={styles.messages}>
        {Array.from({ length: count }, (_, at) => {
          const key = editing.ids[at] ?? at
          const id = `${list}-${key}`
          // Those beside one that is seen are made, too: Tab leads on to them.
          const isOpen = at < FIRST || editing.ids.slice(at - 2, at + 3).some((it) => near.has(it))
          const move = (by: number): void => {
            edit((it) => moveMessage(it, path, at, at + by))
            const isAtEnd = at + by === 0 || at + by === count - 1
            setMovedTo(`${id}-${by < 0 === isAtEnd ? 'down' : 'up'}`)
          }
          return (
            <li key={key} ref={observe} data-key={key} className={styles.message}>
              {isOpen ? (
                <OneMessage {...props} at={at} id={id} isLast={at === count - 1} move={move} />
              ) : (
                <UnopenedMessage
                  role={stringAt(editing.text, [...path, at, 'role']) ?? ''}
                  text={stringAt(editing.text, [...path, at, 'content']) ?? ''}
                />
              )}
            </li>
          )
        })}
      </ol>
      <Button
        refusal={readOnly ? 'This draft is edited in another tab.' : undefined}
        onClick={() => edit((it) => addMessage(it, path, count === 0 ? 'system' : 'user'))}
      >
        <Plus size={16} aria-hidden />
        Add a message
      </Button>
    </section>
  )
}

/** Which messages have come near to what is seen, by their keys; one observer watches all. */
function useNear(): {
  readonly observe: (element: HTMLLIElement | null) => (() => void) | undefined
  readonly near: ReadonlySet<number>
} {
  const [near, setNear] = useState<ReadonlySet<number>>(new Set())
  const observer = useRef<IntersectionObserver | undefined>(undefined)
  observer.current ??= new IntersectionObserver(
    (entries) => {
      const come = entries.filter(({ isIntersecting }) => isIntersecting)
      if (come.length === 0) return
      const keys = come.map(({ target }) => Number((target as HTMLElement).dataset['key']))
      setNear((before) => (keys.every((key) => before.has(key)) ? before : new Set([...before, ...keys])))
    },
    { rootMargin: '600px' },
  )
  const observe = useRef((element: HTMLLIElement | null) => {
    if (!element) return undefined
    observer.current?.observe(element)
    return () => observer.current?.unobserve(element)
  })
  return { observe: observe.current, near }
}

/** A message whose editor is not made yet: an editor for each of thousands takes the browser a minute. */
const UnopenedMessage = memo(function UnopenedMessage({
  role,
  text,
}: {
  readonly role: string
  readonly text: string
}) {
  return (
    <>
      <header>{role}</header>
      <Waiting text={text} />
    </>
  )
})
