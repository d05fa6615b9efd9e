import { Link } from '@tanstack/react-router'
import { ChevronDown } from 'lucide-react'
import { DropdownMenu } from 'radix-ui'
import type { ReactNode } from 'react'
import styles from './menu.module.css'

/** A line of a menu: a link, or something that it does. */
export type MenuItem = { readonly label: string; readonly refusal?: string | undefined } & (
  { readonly to: string; readonly search?: Readonly<Record<string, string>> } | { readonly run: () => void }
)

export interface MenuProps {
  readonly label: ReactNode
  readonly title?: string
  readonly items: readonly MenuItem[]
}

/** A button that opens a list of links and commands. */
export function Menu({ label, title, items }: MenuProps) {
  return (
    <DropdownMenu.Root modal={false}>
      <DropdownMenu.Trigger className={styles.trigger} title={title}>
        {label}
        <ChevronDown size={14} aria-hidden />
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content className={styles.menu} align="start" sideOffset={4} collisionPadding={8}>
          {items.map((item, at) => (
            <DropdownMenu.Item
              key={at}
              className={styles.item}
              disabled={item.refusal !== undefined}
              title={item.refusal}
              asChild={'to' in item}
              {...('run' in item ? { onSelect: item.run } : {})}
            >
              {'to' in item ? (
                <Link to={item.to} search={item.search ?? {}}>
                  {item.label}
                </Link>
              ) : (
                item.label
              )}
            </DropdownMenu.Item>
          ))}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  )
}
