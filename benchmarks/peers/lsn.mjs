// Positions in the WAL: BigInt here, "16/B374D848" on the wire.

export function parseLsn(text) {
    const [high, low] = text.split('/');
    return (BigInt(`0x${high}`) << 32n) | BigInt(`0x${low}`);
}

export function formatLsn(lsn) {
    return `${(lsn >> 32n).toString(16)}/${(lsn & 0xffffffffn).toString(16)}`.toUpperCase();
}
