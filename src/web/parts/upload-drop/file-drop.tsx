import { type DragEvent, type ReactNode, useState } from 'react'
import { useRefusal } from '../../shell/session.tsx'
import styles from './upload-drop.module.css'

export interface FileDropProps {
  /** What dropping a file does. */
  readonly label: string
  readonly drop: (file: File) => void
  readonly className?: string | undefined
  readonly children: ReactNode
}

/** A place that takes a dropped file, and says so while one is over it. */
export function FileDrop({ label, drop, className, children }: FileDropProps) {
  const [isOver, setOver] = useState(false)
  const lacking = useRefusal('write')
  const hasFile = (event: DragEvent): boolean => event.dataTransfer.types.includes('Files')
  return (
    <div
      className={`${styles.place} ${className ?? ''}`}
      onDragOver={(event) => {
        if (!hasFile(event)) return
        event.preventDefault()
        event.dataTransfer.dropEffect = lacking === undefined ? 'copy' : 'none'
        setOver(true)
      }}
      onDragLeave={(event) => {
        if (!event.currentTarget.contains(event.relatedTarget as Node | null)) setOver(false)
      }}
      onDrop={(event) => {
        if (!hasFile(event)) return
        // A browser would open the file in place of the page.
        event.preventDefault()
        setOver(false)
        const [file] = event.dataTransfer.files
        if (file && lacking === undefined) drop(file)
      }}
    >
      {children}
      {isOver && <div className={styles.over}>{lacking ?? label}</div>}
    </div>
  )
}
