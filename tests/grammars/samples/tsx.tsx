import React from 'react';

interface Props { label: string }

/** Shows a parcel. */
export function ParcelCard({ label }: Props): JSX.Element {
  const [open, setOpen] = React.useState(false);
  const toggle = () => setOpen(!open);
  return <div onClick={toggle}>{label}{open && <b>{(() => 'x')()}</b>}</div>;
}

export const ParcelList: React.FC<{ items: Props[] }> = ({ items }) => (
  <ul>{items.map((item) => <ParcelCard key={item.label} {...item} />)}</ul>
);

class Legacy extends React.Component<Props> {
  state = { open: false };
  handle = () => {};
  render() { return <></>; }
}

export const Wrapped = React.memo(function Inner() { return <i />; });

export default () => <ParcelList items={[]} />;
