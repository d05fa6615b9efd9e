import type { ButtonHTMLAttributes, ReactNode } from 'react'
import { type Scope, useRefusal } from '../../shell/session.tsx'
import styles from './button.module.css'

export interface ButtonProps extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'disabled'> {
  /** The one primary button of a page, named by what it does; `danger` for what cannot be taken back easily. */
  readonly kind?: 'primary' | 'plain' | 'quiet' | 'danger'
  /** The scope that the key needs; where it lacks it, the button says so and does nothing. */
  readonly needs?: Scope
  /** Why it cannot be pressed now. */
  readonly refusal?: string | undefined
  /** It works on what it was pressed for. */
  readonly busy?: boolean
  readonly children: ReactNode
}

/** A button. One that may not be pressed keeps its focus and says why. */
export function Button({
  kind = 'plain',
  needs,
  refusal,
  busy = false,
  children,
  onClick,
  ...rest
}: ButtonProps) {
  const lacking = useRefusal(needs)
  const why = refusal ?? lacking
  const isOff = why !== undefined || busy
  return (
    <button
      type="button"
      {...rest}
      className={`${styles.button} ${styles[kind]}`}
      aria-disabled={isOff || undefined}
      aria-busy={busy || undefined}
      title={why ?? rest.title}
      onClick={(event) => (isOff ? event.preventDefault() : onClick?.(event))}
    >
      {children}
      {why !== undefined && <span className="visually-hidden">: {why}</span>}
    </button>
  )
}
