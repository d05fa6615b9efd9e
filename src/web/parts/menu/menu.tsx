import { Link } from '@tanstack/react-router'
import { ChevronDown } from 'lucide-react'
import { DropdownMenu } from 'radix-ui'
import type { ReactNode } from 'react'
import styles from './menu.module.css'

/** An item of a menu: a link, or an action. */
export type MenuItem = {
  readonly label: string
  /** A dimmed note after the label. */
  readonly note?: string
  readonly refusal?: string | undefined
  /** Whether it is the current page. */
  readonly isHere?: boolean
} & (
  { readonly to: string; readonly search?: Readonly<Record<string, string>> } | { readonly run: () => void }
)

export interface MenuProps {
  readonly label: ReactNode
  readonly title?: string
  readonly items: readonly MenuItem[]
  /** As narrow as its arrow. */
  readonly isSmall?: boolean
  /** Whether it is open, if the parent controls it. */
  readonly open?: boolean
  readonly onOpen?: (isOpen: boolean) => void
  /** What has the focus after it closes; by default its button. */
  readonly returnTo?: () => HTMLElement | null
}

/** A button that opens a list of links and actions. */
export function Menu({ label, title, items, isSmall = false, open, onOpen, returnTo }: MenuProps) {
  return (
    <DropdownMenu.Root
      modal={false}
      {...(open === undefined ? {} : { open })}
      {...(onOpen ? { onOpenChange: onOpen } : {})}
    >
      <DropdownMenu.Trigger className={isSmall ? styles.small : styles.trigger} title={title}>
        {label}
        <ChevronDown size={14} aria-hidden />
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content
          className={styles.menu}
          align="start"
          sideOffset={4}
          collisionPadding={8}
          onCloseAutoFocus={(event) => {
            // A dialog that the item opened keeps the focus: what is typed is meant for it.
            const isAsking = document.querySelector('[role=dialog]') !== null
            const element = returnTo?.()
            if (isAsking || element) event.preventDefault()
            if (!isAsking) element?.focus()
          }}
        >
          {items.map((item, at) => (
            <DropdownMenu.Item
              key={at}
              className={styles.item}
              disabled={item.refusal !== undefined}
              title={item.refusal}
              aria-current={item.isHere ? 'page' : undefined}
              asChild={'to' in item}
              {...('run' in item ? { onSelect: item.run } : {})}
            >
              {'to' in item ? (
                <Link to={item.to} search={item.search ?? {}}>
                  <Words {...item} />
                </Link>
              ) : (
                <Words {...item} />
              )}
            </DropdownMenu.Item>
          ))}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  )
}

function Words({ label, note }: Pick<MenuItem, 'label' | 'note'>) {
  return (
    <>
      <bdi>{label}</bdi>
      {note !== undefined && <bdi className={styles.note}>{note}</bdi>}
    </>
  )
}
