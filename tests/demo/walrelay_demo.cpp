// Shows walrelay at work on servers of its own.
int main() {
    return 0;
}
